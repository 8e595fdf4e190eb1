package io.github.iree4j.vm.asm;

import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;

/** A source location as written by MLIR: {@code "file":1:2}, {@code "name"(...)}, {@code callsite(... at ...)}, {@code fused[..., ...]}. */
sealed interface SourceText {
    /** Maximum nesting; deeper locations are mistakes or attacks. */
    int MAX_DEPTH = 64;

    /** A place in a file. */
    record Place(String file, int line, int column) implements SourceText {}

    /** A name for another location. */
    record Named(String name, SourceText child) implements SourceText {}

    /** A place inlined into another. */
    record CallSite(SourceText callee, SourceText caller) implements SourceText {}

    /** Several fused places. */
    record Fused(List<SourceText> parts) implements SourceText {
        /** Copies the list. */
        public Fused {
            parts = List.copyOf(parts);
        }
    }

    static SourceText parse(LineCursor line, int depth) {
        if (depth > MAX_DEPTH) {
            throw tooDeep(line);
        }
        if (line.tryTake("callsite")) {
            line.take("(");
            SourceText callee = parse(line, depth + 1);
            line.take("at");
            SourceText caller = parse(line, depth + 1);
            line.take(")");
            return new CallSite(callee, caller);
        }
        if (line.tryTake("fused")) {
            line.take("[");
            List<SourceText> parts = new ArrayList<>();
            do {
                parts.add(parse(line, depth + 1));
            } while (line.tryTake(","));
            line.take("]");
            return new Fused(parts);
        }
        String text =
                line.string("a location like '\"file\":1:2', '\"name\"(...)', 'callsite(... at ...)' or 'fused[...]'");
        if (line.tryTake("(")) {
            SourceText child = parse(line, depth + 1);
            line.take(")");
            return new Named(text, child);
        }
        line.take(":");
        int row = (int) line.unsigned(Integer.MAX_VALUE, "a line");
        line.take(":");
        return new Place(text, row, (int) line.unsigned(Integer.MAX_VALUE, "a column"));
    }

    private static IreeException tooDeep(LineCursor line) {
        return line.failure("location has more than %d levels".formatted(MAX_DEPTH));
    }
}
