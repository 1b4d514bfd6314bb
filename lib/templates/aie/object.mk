
@NAME@.o: @SOURCE@
	"$(PEANO_INSTALL_DIR)/bin/clang++" --target=@CORE@-none-unknown-elf -std=c++20 -O2 -c $< -o $@
