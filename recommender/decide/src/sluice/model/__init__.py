"""Values that cross rooms: keys, reasons, pauses, scaling, demand, containers, times. Imports no other room."""
