package io.github.iree4j.tools.file;

import io.github.iree4j.NpyFormat;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** The files written by commands, of which none is an input too. */
public final class OutputFiles {
    private OutputFiles() {}

    /**
     * Refuses an output that is an input too, by whatever name: the command would destroy what the user has given.
     *
     * @param output a file to be written
     * @param inputs files read by the command; files that do not exist are left to the reader
     * @throws IreeException INVALID_ARGUMENT when the output is one of the inputs
     */
    public static void requireOther(Path output, Collection<Path> inputs) {
        for (Path input : inputs) {
            if (isSame(output, input)) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "output '%s' is also an input, '%s'; name another file".formatted(output, input));
            }
        }
    }

    private static boolean isSame(Path output, Path input) {
        try {
            return Files.isSameFile(output, input);
        } catch (IOException e) {
            return false; // one of both does not exist
        }
    }

    /** Returns the file of {@code --output=@file} or {@code --output=+file}; null for another destination. */
    public static @Nullable Path file(String spec) {
        return spec.startsWith("@") || spec.startsWith("+") ? Path.of(spec.substring(1)) : null;
    }

    /** Writes a result to the file of {@code --output=@file} (overwritten) or {@code --output=+file} (appended). */
    public static void write(String spec, @Nullable Object value) {
        boolean append = spec.startsWith("+");
        if (!append && !spec.startsWith("@")) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "output '%s' is not supported; write nothing, -, @file or +file".formatted(spec));
        }
        String path = spec.substring(1);
        StandardOpenOption mode = append ? StandardOpenOption.APPEND : StandardOpenOption.TRUNCATE_EXISTING;
        try (Tensor tensor = asTensor(value);
                OutputStream out = new BufferedOutputStream(Files.newOutputStream(
                        Path.of(path), StandardOpenOption.CREATE, StandardOpenOption.WRITE, mode))) {
            if (path.endsWith(".npy")) {
                NpyFormat.write(out, tensor);
            } else {
                out.write(tensor.rawBytes());
            }
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNKNOWN, "file '%s' cannot be written: %s".formatted(path, e), e);
        }
    }

    /** Primitives are scalars, buffers are arrays of i8, null is an array without elements. */
    private static Tensor asTensor(@Nullable Object value) {
        return switch (value) {
            case null -> Tensor.zeros(ElementType.I8, 0);
            case Tensor tensor -> tensor.copyToHost();
            case Number number -> Tensor.scalar(number);
            case Buffer buffer ->
                Tensor.copyOf(buffer.map(MemoryAccess.READ, 0, buffer.length()), ElementType.I8, buffer.length());
            case VmBuffer buffer -> Tensor.copyOf(buffer.segment(), ElementType.I8, buffer.length());
            default ->
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "a result of type %s cannot be written to a file".formatted(ResultPrinter.typeName(value)));
        };
    }
}
