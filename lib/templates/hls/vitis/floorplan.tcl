# The dies of the stages of @TOP@, before cells are placed: the soft constraint USER_SLR_ASSIGNMENT (UG912) on the
# instances of their functions. Vitis HLS calls that of `stage` stage_U0, several stage_1_U0 and so on, and those of a
# template stage_2_s_U0. Written without a tool at hand: an error says if cells have other names.
proc place_on {die stage {kind one}} {
  set number {[0-9]+}
  set more [dict get {one {} several {(_[0-9]+)?} template {_[A-Za-z0-9_]+}} $kind]
  set cells [get_cells -quiet -hierarchical -regexp -filter "NAME =~ \".*/${stage}${more}_U${number}\$\""]
  if {[llength $cells] == 0} {
    error "floorplan.tcl: no cell is called ${stage}_U0, so that stage $stage cannot be placed on $die"
  }
  set_property USER_SLR_ASSIGNMENT $die $cells
}

@PLACES@
