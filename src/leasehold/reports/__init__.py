"""Reports: what may be asked for, and how lines become JSON, CSV, HTML or a workbook. Pure."""
