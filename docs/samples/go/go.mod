module example.com/laurel-samples

go 1.19
