"""The command `dpol privatize`: counts get noise before anybody else sees them."""
