package io.github.iree4j.spring.ai;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What an argument of a program that encodes texts is; a tensor of texts by tokens each. */
public enum TokenInput {
    /** Numbers of the tokens. */
    INPUT_IDS,
    /** 1 for a token, 0 for padding. */
    ATTENTION_MASK,
    /** Which of two texts a token belongs to: mostly 0. */
    TOKEN_TYPE_IDS,
    /** 0, 1, 2 and so on. */
    POSITION_IDS;

    /** The one that models call so; null for other names. */
    static @Nullable TokenInput named(String name) {
        for (TokenInput input : values()) {
            if (input.name().toLowerCase(Locale.ROOT).equals(name)) {
                return input;
            }
        }
        return null;
    }
}
