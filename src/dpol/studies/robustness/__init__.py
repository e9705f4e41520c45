"""How far results depend on what nobody measured, says or knows."""
