package io.github.iree4j;

import io.github.iree4j.api.NotForApplications;
import java.util.List;

/** The kind of an argument or result in the calling convention of programs: known also without a declared type. */
@NotForApplications
public enum ValueKind {
    /** An integer of 32 bits, also for booleans and shorter integers. */
    I32("i32"),
    /** An integer of 64 bits. */
    I64("i64"),
    /** A float of 32 bits. */
    F32("f32"),
    /** A float of 64 bits. */
    F64("f64"),
    /** A reference: a tensor or any other object. */
    REFERENCE("reference");

    private final String text;

    ValueKind(String text) {
        this.text = text;
    }

    /** The kinds of values, given a letter for each value. */
    static List<ValueKind> of(String letters) {
        return letters.chars().mapToObj(letter -> of((char) letter)).toList();
    }

    private static ValueKind of(char letter) {
        return switch (letter) {
            case 'i' -> I32;
            case 'I' -> I64;
            case 'f' -> F32;
            case 'F' -> F64;
            default -> REFERENCE;
        };
    }

    /** Returns the name in declarations, such as {@code i32}; {@code reference} for all references. */
    @Override
    public String toString() {
        return text;
    }
}
