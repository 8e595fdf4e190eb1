package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.CallingConvention;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A verified function in the form run by the interpreter.
 *
 * <p>Instructions are longs: the operation in bits 0..15 ({@link io.github.iree4j.vm.isa.Op} or {@link Code}), operands
 * a, b, c in bits 16..31, 32..47 and 48..63, or one 32-bit operand in the upper half. Registers are ordinals within the
 * frame; references carry the MOVE bit of {@link io.github.iree4j.vm.isa.RegisterEncoding}. Branches are indices of
 * {@link #code}. Immutable once the module is complete.
 */
final class FunctionCode {
    final String name;
    final int ordinal;
    final CallingConvention convention;
    final int words;
    final int refs;
    final long[] code;
    final CallSite[] sites;
    final ReturnSite[] returns;
    final String[] messages;

    /** Words receiving the arguments, in order, two for a 64-bit argument; references go into registers 0, 1, 2... */
    final int[] argumentWords;

    final int argumentRefs;

    /** The first word that is zero when the function starts, like all further words; all words below are arguments. */
    final int firstZeroed;

    /** Starts of instructions, in {@link #code} and in the file's code, both ascending. */
    private final int[] starts;

    private final int[] offsets;

    /** Calls left until compilation; 0 when calls are not counted. Written racily: a lost count does not matter. */
    int heat;

    /**
     * Loops left while interpreted, in units of ten thousand backward jumps, until the current loop is compiled; 0 when
     * loops are not counted. Written racily.
     */
    int loopHeat;

    /** Compiled loops and parts, or null. Set by the compiler, read by any thread. */
    private volatile @Nullable CompiledParts parts;

    /** The compiled function; null while interpreted. Set by the compiler, read by any thread. */
    private volatile CompiledUnit.@Nullable Entry compiled;

    FunctionCode(
            String name,
            int ordinal,
            CallingConvention convention,
            int words,
            int refs,
            long[] code,
            CallSite[] sites,
            ReturnSite[] returns,
            String[] messages,
            int[] starts,
            int[] offsets) {
        this.name = name;
        this.ordinal = ordinal;
        this.convention = convention;
        this.words = words;
        this.refs = refs;
        this.code = code;
        this.sites = sites;
        this.returns = returns;
        this.messages = messages;
        this.starts = starts;
        this.offsets = offsets;
        String letters = convention.arguments();
        argumentWords = ArgumentRegisters.inOrder(letters);
        argumentRefs = (int) letters.chars().filter(letter -> letter == 'r').count();
        int dense = 0;
        while (dense < argumentWords.length && argumentWords[dense] == dense) {
            dense++;
        }
        firstZeroed = dense;
    }

    /** Changes the words storing the arguments, before the module is complete. The old and new words are equal up to the first gap. */
    void storeArgumentsIn(int[] words) {
        System.arraycopy(words, 0, argumentWords, 0, words.length);
    }

    CompiledUnit.@Nullable Entry compiled() {
        return compiled;
    }

    void setCompiled(CompiledUnit.Entry entry) {
        compiled = entry;
    }

    /** Returns the code to interpret, with {@link Code#ENTER} at the entries of compiled parts. */
    long[] running() {
        CompiledParts compiledParts = parts;
        return compiledParts == null ? code : compiledParts.code;
    }

    @Nullable
    CompiledParts parts() {
        return parts;
    }

    void setParts(CompiledParts compiledParts) {
        parts = compiledParts;
    }

    /** Returns the offset in the file's code of the instruction at or before an index. */
    int offsetOf(int pc) {
        int i = Arrays.binarySearch(starts, pc);
        if (i < 0) {
            i = -i - 2;
        }
        return i < 0 ? 0 : offsets[i];
    }

    /**
     * Returns the index of the first instruction translated from an offset in the file's code. If the instruction at
     * the offset was dropped, returns the index of the next translated instruction.
     */
    int pcOf(int offset) {
        int i = Arrays.binarySearch(offsets, offset);
        if (i < 0) {
            i = -i - 1;
        }
        return i < starts.length ? starts[i] : code.length;
    }

    /** Whether the instruction at an offset in the file's code was translated to any code. */
    boolean startsAt(int offset) {
        return Arrays.binarySearch(offsets, offset) >= 0;
    }

    /** The registers of a call's arguments and results. Flattened lists name words, two for a 64-bit value. */
    static final class CallSite {
        final int callee;
        final boolean isImport;
        final boolean yieldable;

        /** Types of arguments, a span as 'C' followed by the elements. */
        final char[] letters;

        /** Per letter, the register without MOVE bit, or the number of tuples of a span. */
        final int[] operands;

        final int[] argumentWords;

        /** References with MOVE bits. */
        final int[] argumentRefs;

        final char[] resultLetters;
        final int[] results;
        final int[] resultWords;
        final int[] resultRefs;

        /** The result register, if nothing else has to be set after the call; else -1. */
        final int onlyWord;

        /** The index to continue at. */
        int next;

        CallSite(
                int callee,
                boolean isImport,
                boolean yieldable,
                char[] letters,
                int[] operands,
                String resultLetters,
                int[] results) {
            this.callee = callee;
            this.isImport = isImport;
            this.yieldable = yieldable;
            this.letters = letters;
            this.operands = new int[operands.length];
            for (int i = 0; i < operands.length; i++) {
                this.operands[i] = letters[i] == 'r' ? operands[i] & ~Code.MOVE : operands[i];
            }
            argumentWords = words(letters, operands);
            argumentRefs = refs(letters, operands);
            this.resultLetters = resultLetters.toCharArray();
            this.results = results;
            resultWords = words(this.resultLetters, results);
            resultRefs = refs(this.resultLetters, results);
            boolean narrow = results.length == 1 && (this.resultLetters[0] == 'i' || this.resultLetters[0] == 'f');
            onlyWord = narrow && argumentRefs.length == 0 ? results[0] : -1;
        }
    }

    /** The results passed by a return. */
    static final class ReturnSite {
        final int[] words;

        /** References with MOVE bits. */
        final int[] refs;

        ReturnSite(String letters, int[] operands) {
            words = words(letters.toCharArray(), operands);
            refs = refs(letters.toCharArray(), operands);
        }
    }

    private static int[] words(char[] letters, int[] operands) {
        int[] words = new int[2 * letters.length];
        int count = 0;
        for (int i = 0; i < letters.length; i++) {
            switch (letters[i]) {
                case 'i', 'f' -> words[count++] = operands[i];
                case 'I', 'F' -> {
                    words[count++] = operands[i];
                    words[count++] = operands[i] + 1;
                }
                default -> {}
            }
        }
        return Arrays.copyOf(words, count);
    }

    private static int[] refs(char[] letters, int[] operands) {
        int[] refs = new int[letters.length];
        int count = 0;
        for (int i = 0; i < letters.length; i++) {
            if (letters[i] == 'r') {
                refs[count++] = operands[i];
            }
        }
        return Arrays.copyOf(refs, count);
    }
}
