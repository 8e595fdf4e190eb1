package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.FunctionGraph.I;

import io.github.iree4j.vm.bytecode.FunctionGraph.Move;
import java.util.Arrays;

/** The valid forms of each word and each pair at a point of a function, as sets of kinds. */
final class WordState {
    final byte[] words;
    final byte[] pairs;

    WordState(int count) {
        words = new byte[count];
        pairs = new byte[count / 2];
    }

    WordState(WordState other) {
        words = other.words.clone();
        pairs = other.pairs.clone();
    }

    boolean has(int word) {
        return (words[word] | pairs[word >> 1]) != 0;
    }

    /** Records that a register has been written. The other word of a pair written as one value stays, as an integer, if used later. */
    void set(byte kind, int word, boolean keepsOther) {
        if (RegisterPlan.isWide(kind)) {
            pairs[word >> 1] = kind;
            words[word] = 0;
            words[word + 1] = 0;
            return;
        }
        if (splits(word, keepsOther)) {
            words[word ^ 1] = I;
        }
        pairs[word >> 1] = 0;
        words[word] = kind;
    }

    /** Returns whether writing a word has to save the other word of the pair first. */
    boolean splits(int word, boolean keepsOther) {
        return keepsOther && pairs[word >> 1] != 0 && words[word ^ 1] == 0;
    }

    void apply(Move move) {
        if (move.ref) {
            return;
        }
        if (!move.wide) {
            byte form = formOf(move.from);
            if (form != 0) {
                set(form, move.to, move.keepsOther);
            } else {
                forget(move.to, move.keepsOther);
            }
            return;
        }
        byte pair = pairs[move.from >> 1];
        byte low = words[move.from];
        byte high = words[move.from + 1];
        pairs[move.to >> 1] = (byte) Integer.lowestOneBit(pair);
        words[move.to] = pair != 0 ? 0 : (byte) Integer.lowestOneBit(low);
        words[move.to + 1] = pair != 0 ? 0 : (byte) Integer.lowestOneBit(high);
    }

    /** Records that a word was overwritten with an unused value. */
    void forget(int word, boolean keepsOther) {
        set(I, word, keepsOther);
        words[word] = 0;
    }

    /** Returns the cheapest form for reading a single word; 0 when there is none. */
    byte formOf(int word) {
        return words[word] != 0 ? (byte) Integer.lowestOneBit(words[word]) : pairs[word >> 1] != 0 ? I : 0;
    }

    @Override
    public boolean equals(Object object) {
        return object instanceof WordState other
                && Arrays.equals(words, other.words)
                && Arrays.equals(pairs, other.pairs);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(words) * 31 + Arrays.hashCode(pairs);
    }
}
