"""A network with one hidden layer over the words around a unit, tabulated word by word."""
