# How the schedule lays out arrays, and the depths of its channels
@DIRECTIVES@
