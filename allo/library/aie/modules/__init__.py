"""Modules of published Allo for arrays of AMD NPUs, by the names that programs import."""
