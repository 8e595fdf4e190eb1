package io.github.iree4j.tools;

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
import org.jspecify.annotations.Nullable;

/** Writes a result to the file of {@code --output=@file} (overwritten) or {@code --output=+file} (appended). */
final class OutputFiles {
    private OutputFiles() {}

    static void write(String spec, @Nullable Object value) {
        boolean append = spec.startsWith("+");
        if (!append && !spec.startsWith("@")) {
            throw new IreeException(
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
                out.write(tensor.toBytes());
            }
        } catch (IOException e) {
            throw new IreeException(StatusCode.UNKNOWN, "file '%s' cannot be written: %s".formatted(path, e), e);
        }
    }

    /** Primitives are scalars, buffers are arrays of i8, null is an array without elements. */
    private static Tensor asTensor(@Nullable Object value) {
        return switch (value) {
            case null -> Tensor.zeros(ElementType.I8, 0);
            case Tensor tensor -> tensor.copy();
            case Number number -> Tensor.scalar(number);
            case Buffer buffer ->
                Tensor.copyOf(buffer.map(MemoryAccess.READ, 0, buffer.length()), ElementType.I8, buffer.length());
            case VmBuffer buffer -> Tensor.copyOf(buffer.segment(), ElementType.I8, buffer.length());
            default ->
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "a result of type %s cannot be written to a file".formatted(ResultPrinter.typeName(value)));
        };
    }
}
