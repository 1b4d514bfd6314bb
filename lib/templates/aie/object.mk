
@NAME@.o: @SOURCE@
	"$(PEANO_INSTALL_DIR)/bin/clang++" --target=@CORE@-none-unknown-elf -std=c++20 -O2 -Drestrict=__restrict -I. \
	  -I "$(MLIR_AIE_INSTALL_DIR)/include" -c $< -o $@
