# Cases of the corpus that devices with AMD code do not pass, with the reason. ptxb_amd_exception sets `out` to the reason, or
# to nothing.
function(ptxb_amd_exception name device out)
  set(${out} "" PARENT_SCOPE)
  if(name STREQUAL "fault_misaligned")
    set(${out} "AMD GPUs allow accesses to global memory at any address" PARENT_SCOPE)
  elseif(name STREQUAL "dec2")
    set(${out} "takes ten minutes on two cores: 1024 blocks; run by hand, see docs/devices.md" PARENT_SCOPE)
  elseif((name STREQUAL "dec2-small" AND NOT device STREQUAL "sim:gfx1100") OR (name STREQUAL "dec2-ragged" AND NOT device STREQUAL "sim:gfx942"))
    set(${out} "takes minutes, and is run on another device; one window is run on each" PARENT_SCOPE)
  endif()
endfunction()
