package io.github.iree4j.vm.asm;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.ModuleDraft.Rodata;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads {@code vm.rodata[n] @name align 64 external = value}: the value is hex digits, a string (as UTF-8, nothing added) or {@code file "name"}. */
final class RodataParser {

    private static final int DEFAULT_ALIGNMENT = 16;

    private final ModuleDraft draft;
    private final @Nullable Path baseDirectory;

    RodataParser(ModuleDraft draft, @Nullable Path baseDirectory) {
        this.draft = draft;
        this.baseDirectory = baseDirectory;
    }

    /** Reads the text after {@code vm.rodata}. */
    void directive(LineCursor line) {
        line.take("[");
        int mark = line.mark();
        if (line.unsigned(Integer.MAX_VALUE, "a segment number") != draft.rodata.size()) {
            line.reset(mark);
            throw line.error("segment %d; segments come in order".formatted(draft.rodata.size()));
        }
        line.take("]");
        String symbol = null;
        int alignment = DEFAULT_ALIGNMENT;
        boolean external = false;
        while (!line.tryTake("=")) {
            if (line.tryTake("align")) {
                alignment = alignment(line);
            } else if (line.tryTake("external")) {
                external = true;
            } else if (line.peek() == '@') {
                symbol = symbol(line);
            } else {
                throw line.error("'=' and the bytes, or one of '@name', 'align', 'external'");
            }
        }
        draft.rodata.add(new Rodata(MemorySegment.ofArray(value(line)), alignment, external, symbol));
    }

    private static int alignment(LineCursor line) {
        line.skipSpace();
        int mark = line.mark();
        int alignment = (int) line.unsigned(ModuleWriter.SEGMENT_ALIGNMENT, "an alignment");
        if (Integer.bitCount(alignment) != 1) {
            line.reset(mark);
            throw line.error("a power of two");
        }
        return alignment;
    }

    private String symbol(LineCursor line) {
        int mark = line.mark();
        String symbol = line.symbol("rodata");
        if (draft.rodataOrdinal(symbol) >= 0) {
            line.reset(mark);
            throw line.error("rodata that is not declared yet");
        }
        return symbol;
    }

    private byte[] value(LineCursor line) {
        if (line.peek() == '"' || line.peekRest().startsWith("e\"")) {
            return line.bytes("rodata");
        }
        line.skipSpace();
        int mark = line.mark();
        if (line.tryTake("file")) {
            return file(line, line.string("a file name"), mark);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        while (!line.atEnd()) {
            String rest = line.peekRest();
            int high = Character.digit(rest.charAt(0), 16);
            int low = rest.length() > 1 ? Character.digit(rest.charAt(1), 16) : -1;
            if (high < 0 || low < 0) {
                throw line.error("two hex digits for each byte, a string, or 'file'");
            }
            hex(line, rest, bytes);
        }
        return bytes.toByteArray();
    }

    /** Reads pairs of hex digits up to the first other character. */
    private static void hex(LineCursor line, String rest, ByteArrayOutputStream bytes) {
        int at = 0;
        while (at + 1 < rest.length()) {
            int high = Character.digit(rest.charAt(at), 16);
            int low = Character.digit(rest.charAt(at + 1), 16);
            if (high < 0 || low < 0) {
                break;
            }
            bytes.write(high << 4 | low);
            at += 2;
        }
        line.skip(at);
    }

    private byte[] file(LineCursor line, String name, int mark) {
        if (baseDirectory == null) {
            line.reset(mark);
            throw line.error("bytes, since this text is assembled without a directory to find '%s' in".formatted(name));
        }
        try {
            return Files.readAllBytes(baseDirectory.resolve(name));
        } catch (IOException | InvalidPathException | OutOfMemoryError e) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "line %d: cannot read rodata file '%s' in '%s': %s"
                            .formatted(line.lineNumber(), name, baseDirectory, e),
                    e);
        }
    }
}
