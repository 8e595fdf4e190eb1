package io.github.iree4j;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * NumPy's {@code .npy} format, versions 1 to 3. A file may contain several arrays in sequence (<a
 * href="https://numpy.org/devdocs/reference/generated/numpy.lib.format.html">numpy.lib.format</a>). Input is untrusted:
 * sizes are checked before memory is allocated.
 */
public final class NpyFormat {
    private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
    /** Limit of the header. The header of an array of numbers is shorter. */
    private static final int MAX_HEADER = 1 << 20;

    private static final Pattern DESCR = Pattern.compile("['\"]descr['\"]\\s*:\\s*['\"]([^'\"]*)['\"]");
    private static final Pattern ORDER = Pattern.compile("['\"]fortran_order['\"]\\s*:\\s*(True|False)");
    private static final Pattern SHAPE = Pattern.compile("['\"]shape['\"]\\s*:\\s*\\(([^)]*)\\)");

    private NpyFormat() {}

    /**
     * Reads the array at the stream's position, and no byte beyond the array.
     *
     * @param in the stream
     * @return the tensor, in memory used in place by devices where possible; needs no closing
     * @throws IreeException INVALID_ARGUMENT for data other than an npy array, OUT_OF_RANGE when the stream ends early,
     *     UNIMPLEMENTED for Fortran order, big-endian numbers and types unknown to tensors, RESOURCE_EXHAUSTED for more
     *     than 2 GB
     * @throws IOException when the stream cannot be read
     */
    public static Tensor read(InputStream in) throws IOException {
        return read(in, Integer.MAX_VALUE - 8);
    }

    /**
     * Reads the array at the stream's position, and no byte beyond the array, unless the array is too large.
     *
     * @param in the stream
     * @param maximumBytes maximum size of the elements, bytes
     * @return the tensor, in memory used in place by devices where possible; needs no closing
     * @throws IreeException RESOURCE_EXHAUSTED for more bytes; otherwise as {@link #read(InputStream)}
     * @throws IOException when the stream cannot be read
     */
    public static Tensor read(InputStream in, long maximumBytes) throws IOException {
        byte[] prefix = readFully(in, 8, "npy header");
        if (!Arrays.equals(prefix, 0, 6, MAGIC, 0, 6)) {
            throw invalid("not an npy array: it starts with %s".formatted(hex(prefix)));
        }
        int version = prefix[6] & 0xFF;
        if (version < 1 || version > 3) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "npy version %d.%d is not supported (1 to 3 are)".formatted(version, prefix[7] & 0xFF));
        }
        byte[] size = readFully(in, version == 1 ? 2 : 4, "npy header length");
        long length = 0;
        for (int i = 0; i < size.length; i++) {
            length |= (size[i] & 0xFFL) << (8 * i);
        }
        if (length > MAX_HEADER) {
            throw invalid("npy header of %d bytes is longer than %d".formatted(length, MAX_HEADER));
        }
        String header = new String(readFully(in, (int) length, "npy header"), StandardCharsets.UTF_8);
        if (field(ORDER, header, "fortran_order").equals("True")) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED, "npy array is in Fortran order; save it with numpy.ascontiguousarray");
        }
        ElementType type = elementType(field(DESCR, header, "descr"));
        long[] shape = shape(field(SHAPE, header, "shape"));
        long bytes = byteSize(type, shape);
        if (bytes > maximumBytes) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "npy array of %d bytes is larger than %d".formatted(bytes, maximumBytes));
        }
        return Tensor.read(in, type, shape);
    }

    /**
     * Writes one array, in version 1 as NumPy does, with data aligned to 64 bytes.
     *
     * @param out the stream; not closed
     * @param tensor the tensor
     * @throws IreeException UNIMPLEMENTED for elements smaller than a byte: the format has no type for such elements
     * @throws IOException when the stream cannot be written
     */
    public static void write(OutputStream out, Tensor tensor) throws IOException {
        StringBuilder dict = new StringBuilder("{'descr': '")
                .append(descr(tensor.elementType()))
                .append("', 'fortran_order': False, 'shape': (");
        long[] shape = tensor.shape().dimensions();
        for (int i = 0; i < shape.length; i++) {
            dict.append(i > 0 ? ", " : "").append(shape[i]);
        }
        dict.append(shape.length == 1 ? ",), }" : "), }");
        int unpadded = MAGIC.length + 2 + 2 + dict.length() + 1;
        dict.append(" ".repeat((64 - unpadded % 64) % 64)).append('\n');
        ByteArrayOutputStream header = new ByteArrayOutputStream();
        header.writeBytes(MAGIC);
        header.write(1);
        header.write(0);
        header.write(dict.length() & 0xFF);
        header.write(dict.length() >> 8);
        header.writeBytes(dict.toString().getBytes(StandardCharsets.US_ASCII));
        header.writeTo(out);
        tensor.writeTo(out);
    }

    private static ElementType elementType(String descr) {
        String text = descr;
        if (text.startsWith(">")) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "npy element type '%s' is big-endian, which is not supported".formatted(descr));
        }
        if (text.startsWith("|") || text.startsWith("=") || text.startsWith("<")) {
            text = text.substring(1);
        }
        String name = switch (text.isEmpty() ? ' ' : text.charAt(0)) {
            case 'b' -> "i";
            case 'i' -> "si";
            case 'u' -> "ui";
            case 'f' -> "f";
            case 'c' -> "cf";
            case 'V' -> "*";
            default ->
                throw IreeException.of(
                        StatusCode.UNIMPLEMENTED, "npy element type '%s' is not supported".formatted(descr));
        };
        int width;
        try {
            width = Integer.parseInt(text.substring(1));
        } catch (NumberFormatException e) {
            throw invalid("npy element type '%s' has no width".formatted(descr));
        }
        if (width < 1 || width > 31) {
            throw invalid(
                    "npy element type '%s' has a width of %d bytes (1 to 31 are possible)".formatted(descr, width));
        }
        return ElementType.parse(name.equals("i") ? "i1" : name + width * 8);
    }

    private static String descr(ElementType type) {
        int size = ((type.encoding() & 0xFF) + 7) / 8;
        char kind = switch (type.encoding() >>> 24) {
            case 0x13 -> 'b';
            case 0x10, 0x11 -> 'i';
            case 0x12 -> 'u';
            case 0x21 -> 'f';
            case 0x23 -> 'c';
            default -> 'V'; // NumPy has no bf16 and no 8-bit floats; ml_dtypes also writes such types as V
        };
        if ((type.encoding() & 0xFF) < 8) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED, "npy has no element type for %s; write a .bin file".formatted(type));
        }
        return (size == 1 ? "|" : "<") + kind + size;
    }

    private static long[] shape(String text) {
        String[] parts = text.trim().isEmpty()
                ? new String[0]
                : text.trim().replaceAll(",\\s*$", "").split(",");
        if (parts.length > 128) {
            throw invalid("npy shape has %d dimensions; the limit is 128".formatted(parts.length));
        }
        long[] shape = new long[parts.length];
        for (int i = 0; i < shape.length; i++) {
            try {
                shape[i] = Long.parseLong(parts[i].trim());
            } catch (NumberFormatException e) {
                throw invalid("npy dimension %d is '%s', which is not a number".formatted(i, parts[i].trim()));
            }
        }
        return shape;
    }

    private static long byteSize(ElementType type, long[] shape) {
        long count = 1;
        try {
            for (long dim : shape) {
                if (dim < 0) {
                    throw invalid("npy shape %s has a negative dimension".formatted(Arrays.toString(shape)));
                }
                count = Math.multiplyExact(count, dim);
            }
            return Math.multiplyExact(count, (type.encoding() & 0xFF) / 8);
        } catch (ArithmeticException e) {
            throw invalid("npy shape %s has more bytes than 2^63".formatted(Arrays.toString(shape)));
        }
    }

    private static String field(Pattern pattern, String header, String name) {
        Matcher matcher = pattern.matcher(header);
        if (!matcher.find()) {
            throw invalid("npy header has no '%s'".formatted(name));
        }
        return matcher.group(1);
    }

    private static byte[] readFully(InputStream in, int length, String what) throws IOException {
        byte[] data = in.readNBytes(length);
        if (data.length < length) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s: the data ends after %d of %d bytes".formatted(what, data.length, length));
        }
        return data;
    }

    private static String hex(byte[] bytes) {
        return java.util.HexFormat.ofDelimiter(" ").formatHex(bytes);
    }

    private static IreeException invalid(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }
}
