package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.CallingConvention;

/**
 * How many registers a frame of a function has: what it declares, and at least what its arguments need.
 *
 * <p>Arguments are put into the first registers of each bank, used or not. IREE's assembler counts only registers that instructions
 * name, so a function that ignores an argument may declare fewer than it is given; IREE rounds counts up and takes it.
 *
 * @param words 32-bit registers
 * @param refs reference registers
 */
record RegisterCounts(int words, int refs) {

    static RegisterCounts of(ModuleDef.Function function, CallingConvention convention) {
        int words = 0;
        int refs = 0;
        for (int i = 0; i < convention.arguments().length(); i++) {
            switch (convention.arguments().charAt(i)) {
                case 'r' -> refs++;
                case 'I', 'F' -> words = (words + 1 & ~1) + 2;
                default -> words++;
            }
        }
        return new RegisterCounts(Math.max(words, function.words()), Math.max(refs, function.refs()));
    }
}
