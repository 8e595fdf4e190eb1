package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads small files that the kernel makes up, below a root directory; remembers those that made no sense. One thread. */
final class TopologyFiles {
    /** A container host with thousands of mounts has a table of some hundred kilobytes. */
    private static final int LARGEST = 4 << 20;

    private static final int MOST_NOTES = 16;

    private final Path root;
    private final List<String> notes = new ArrayList<>();

    TopologyFiles(Path root) {
        this.root = root;
    }

    List<String> notes() {
        return List.copyOf(notes);
    }

    void note(String sentence) {
        if (notes.size() < MOST_NOTES) {
            notes.add(sentence);
        }
    }

    private Path at(String path) {
        return root.resolve(path.startsWith("/") ? path.substring(1) : path);
    }

    boolean isDirectory(String path) {
        return Files.isDirectory(at(path));
    }

    /** The text without surrounding blanks; null when there is no such file, or one larger than any of these are. */
    @Nullable
    String read(String path) {
        try (InputStream in = Files.newInputStream(at(path))) {
            byte[] bytes = in.readNBytes(LARGEST + 1);
            if (bytes.length > LARGEST) {
                note("'%s' is larger than %d bytes; ignored".formatted(path, LARGEST));
                return null;
            }
            return new String(bytes, StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return null;
        }
    }

    /** A number; the default when there is no such file or it holds something else. */
    long readNumber(String path, long otherwise) {
        String text = read(path);
        if (text == null || text.isEmpty()) {
            return otherwise;
        }
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            note("'%s' is '%s', not a number; ignored".formatted(path, ProcessorList.abbreviate(text)));
            return otherwise;
        }
    }

    /** A set of processors; empty when there is no such file or it holds something else. */
    BitSet readList(String path) {
        String text = read(path);
        return text == null ? new BitSet() : list(path, text);
    }

    BitSet list(String path, String text) {
        try {
            return ProcessorList.parse(path, text);
        } catch (IreeException e) {
            note(e.getMessage() + "; ignored");
            return new BitSet();
        }
    }
}
