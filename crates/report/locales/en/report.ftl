### Reports.
