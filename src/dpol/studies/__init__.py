"""Studies, one folder each: computation, tables and figures."""
