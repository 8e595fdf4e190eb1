package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.CallingConvention;

/**
 * The number of registers in a frame of a function: the declared registers, and at least the registers required for the
 * arguments.
 *
 * <p>Arguments are stored in the first registers of each bank, used or not. IREE's assembler counts only registers
 * named by instructions, so a function ignoring an argument may declare too few. IREE rounds counts up and accepts the
 * function.
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
