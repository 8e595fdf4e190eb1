package io.github.iree4j.spring.ai.encoder;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The meaning of an argument of a text encoder; each argument is a tensor of texts by tokens. */
public enum TokenInput {
    /** Token ids. */
    INPUT_IDS,
    /** 1 for a token, 0 for padding. */
    ATTENTION_MASK,
    /** Segment of each token, usually 0. */
    TOKEN_TYPE_IDS,
    /** Positions: 0, 1, 2 and so on. */
    POSITION_IDS;

    /** Returns the input of a conventional name; null for other names. */
    static @Nullable TokenInput named(String name) {
        for (TokenInput input : values()) {
            if (input.name().toLowerCase(Locale.ROOT).equals(name)) {
                return input;
            }
        }
        return null;
    }
}
