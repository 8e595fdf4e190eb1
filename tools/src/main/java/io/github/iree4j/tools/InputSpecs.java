package io.github.iree4j.tools;

import io.github.iree4j.NpyFormat;
import io.github.iree4j.Tensor;
import io.github.iree4j.ValueKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The values of {@code --input=} and {@code --expected_output=}, with the syntax of {@code iree-run-module}:
 *
 * <ul>
 *   <li>{@code 3.14} or {@code i32=3}, for a primitive argument
 *   <li>{@code 2x2xi32=1 2 3 4}, {@code 2x2xi32=[1 2][3 4]}, {@code 4xf32=2} (all 2), {@code 2x2xi32} (zeros)
 *   <li>{@code 2x2xi32=@file.bin} (the first bytes), {@code 2x2xi32=+file.bin} (the bytes after the last read)
 *   <li>{@code @file.npy} (the first array), {@code +file.npy} (the next array), {@code *file.npy} (all further arrays)
 *   <li>{@code &4xf32} storage of this size for a result, as a buffer without shape
 *   <li>{@code (null)} and {@code (ignored)}
 * </ul>
 */
final class InputSpecs implements AutoCloseable {
    /** A null reference, or an ignored result. */
    enum NoValue {
        NULL
    }

    /** Storage for a result: only the bytes count. */
    record Storage(Tensor tensor) {}

    private final Map<String, BufferedInputStream> streams = new HashMap<>();

    /**
     * Reads all values.
     *
     * @param kinds the calling convention's letter of each value, {@code i I f F r}
     * @param specs the texts; {@code *file.npy} stands for several values
     * @return boxed primitives, tensors, {@link Storage} and {@link NoValue}
     */
    List<Object> parse(List<ValueKind> kinds, List<String> specs) {
        List<Object> values = new ArrayList<>();
        for (String raw : specs) {
            String spec = raw.trim();
            try {
                parseInto(values, kinds, spec);
            } catch (IreeException e) {
                throw e.during(
                        "parsing input `%s`".formatted(spec.length() <= 200 ? spec : spec.substring(0, 200) + "..."));
            }
        }
        return values;
    }

    /** Returns the files named by values. */
    static List<Path> files(Collection<String> specs) {
        List<Path> files = new ArrayList<>();
        for (String raw : specs) {
            String spec = raw.trim();
            boolean isArray = !spec.isEmpty() && "@+*".indexOf(spec.charAt(0)) >= 0;
            String contents = isArray ? spec : spec.substring(spec.indexOf('=') + 1);
            if (isArray || contents.startsWith("@") || contents.startsWith("+")) {
                files.add(Path.of(contents.substring(1)));
            }
        }
        return files;
    }

    private void parseInto(List<Object> values, List<ValueKind> kinds, String spec) {
        if (spec.isEmpty()) {
            throw invalid("no value specified for input");
        }
        @Nullable ValueKind kind = values.size() < kinds.size() ? kinds.get(values.size()) : null;
        if (kind == null && spec.charAt(0) != '*') {
            throw invalid("function takes %d values, no more".formatted(kinds.size()));
        }
        switch (spec.charAt(0)) {
            case '@', '+' -> values.add(nextArray(spec.substring(1), spec.charAt(0) == '+'));
            case '*' -> {
                BufferedInputStream stream = open(spec.substring(1), true);
                checkNpy(spec.substring(1));
                while (!atEnd(stream, spec)) {
                    if (values.size() >= kinds.size()) {
                        throw invalid("function takes %d values; the file has more".formatted(kinds.size()));
                    }
                    values.add(nextArray(spec.substring(1), true));
                }
            }
            case '&' -> values.add(new Storage(tensor(spec.substring(1))));
            default -> values.add(value(Objects.requireNonNull(kind), spec));
        }
    }

    private Object value(ValueKind kind, String spec) {
        if (spec.equals("(null)") || spec.equals("(ignored)")) {
            return zero(kind);
        }
        if (kind != ValueKind.REFERENCE) {
            return primitive(kind, spec);
        }
        if (spec.indexOf('=') < 0 && spec.indexOf('x') < 0) {
            throw invalid("a tensor needs at least shape and type, such as 4x2xf32=1 2 3 4 5 6 7 8");
        }
        return tensor(spec);
    }

    private static Object zero(ValueKind kind) {
        return switch (kind) {
            case I32 -> (Object) 0;
            case I64 -> 0L;
            case F32 -> 0f;
            case F64 -> 0d;
            case REFERENCE -> NoValue.NULL;
        };
    }

    private static Object primitive(ValueKind kind, String spec) {
        String type = kind.toString();
        // The tensor reader knows the numbers of every type; a primitive may also name the type.
        int equals = spec.indexOf('=');
        String value = equals < 0 ? spec : spec.substring(equals + 1);
        if (equals >= 0
                && !spec.substring(0, equals).trim().toLowerCase(Locale.ROOT).equals(type)) {
            throw invalid("function takes %s here".formatted(type));
        }
        try (Tensor scalar = Tensor.parse(type + "=" + value)) {
            return switch (kind) {
                case I32 -> (Object) scalar.toIntArray()[0];
                case I64 -> scalar.toLongArray()[0];
                case F32 -> scalar.toFloatArray()[0];
                default -> scalar.toDoubleArray()[0];
            };
        }
    }

    private Tensor tensor(String spec) {
        int equals = spec.indexOf('=');
        String contents = equals < 0 ? "" : spec.substring(equals + 1);
        if (contents.startsWith("@") || contents.startsWith("+")) {
            return fromBytes(spec.substring(0, equals), contents.substring(1), contents.startsWith("+"));
        }
        return Tensor.parse(spec);
    }

    private Tensor fromBytes(String header, String path, boolean append) {
        BufferedInputStream in = open(path, append);
        try (Tensor shaped = Tensor.parse(header)) { // zeros; only shape and type are used
            return Tensor.read(in, shaped.elementType(), shaped.shape().dimensions());
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "'%s' for %s: %s".formatted(path, header, e.getMessage()), e);
        } catch (IOException e) {
            throw unreadable(path, e);
        }
    }

    private Tensor nextArray(String path, boolean append) {
        checkNpy(path);
        BufferedInputStream stream = open(path, append);
        if (atEnd(stream, path)) {
            throw IreeException.of(StatusCode.OUT_OF_RANGE, "'%s' has no further array".formatted(path));
        }
        try {
            return NpyFormat.read(stream);
        } catch (IOException e) {
            throw unreadable(path, e);
        }
    }

    private static void checkNpy(String path) {
        if (!path.endsWith(".npy")) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "'%s' does not declare shape and type; use a .npy file or write 4xf32=@%s".formatted(path, path));
        }
    }

    private static boolean atEnd(BufferedInputStream stream, String path) {
        try {
            stream.mark(1);
            int next = stream.read();
            stream.reset();
            return next < 0;
        } catch (IOException e) {
            throw unreadable(path, e);
        }
    }

    private BufferedInputStream open(String path, boolean append) {
        @Nullable BufferedInputStream known = streams.get(path);
        if (known != null && append) {
            return known;
        }
        try {
            BufferedInputStream fresh = new BufferedInputStream(Files.newInputStream(Path.of(path)));
            BufferedInputStream before = streams.put(path, fresh);
            if (before != null) {
                before.close();
            }
            return fresh;
        } catch (IOException e) {
            throw unreadable(path, e);
        }
    }

    private static IreeException unreadable(String path, IOException e) {
        return e instanceof NoSuchFileException
                ? IreeException.of(StatusCode.NOT_FOUND, "file '%s' does not exist".formatted(path), e)
                : IreeException.of(
                        StatusCode.UNKNOWN, "file '%s' cannot be read: %s".formatted(path, e.getMessage()), e);
    }

    private static IreeException invalid(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }

    @Override
    public void close() {
        for (BufferedInputStream stream : streams.values()) {
            try {
                stream.close();
            } catch (IOException e) {
                // The stream was only read; nothing is lost.
            }
        }
    }
}
