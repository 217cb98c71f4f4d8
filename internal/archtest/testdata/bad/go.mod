module leveret

go 1.26
