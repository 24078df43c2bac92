### vmtax compare.
