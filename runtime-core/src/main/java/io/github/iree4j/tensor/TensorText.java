package io.github.iree4j.tensor;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Pattern;

/** Tensors as text, in the form read and printed by {@code iree-run-module}: {@code 2x2xf32=[1 2][3 4]}. */
public final class TensorText {
    private static final Pattern DECIMAL_FLOAT = Pattern.compile(
            "[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?|[+-]?0[xX][0-9a-fA-F.]+(?:[pP][+-]?\\d+)?");

    private static final double NEGATIVE_NAN = Double.longBitsToDouble(0xFFF8_0000_0000_0000L);

    private TensorText() {}

    /** Shape and type of {@code 4x2xf32}; anything after an equals sign is ignored. */
    record Header(ElementType type, Shape shape) {
        static Header parse(String text) {
            int last = text.lastIndexOf('x');
            ElementType type = ElementType.parse(text.substring(last + 1).trim());
            if (last < 0) {
                return new Header(type, Shape.SCALAR);
            }
            String[] dims = text.substring(0, last).split("x", -1);
            if (dims.length > Shape.MAXIMUM_RANK) {
                throw invalid("shape '%s' has %d dimensions; the limit is %d"
                        .formatted(abbreviate(text), dims.length, Shape.MAXIMUM_RANK));
            }
            long[] dimensions = new long[dims.length];
            for (int i = 0; i < dims.length; i++) {
                try {
                    dimensions[i] = Long.parseLong(dims[i].trim());
                } catch (NumberFormatException e) {
                    throw invalid("dimension %d of '%s' is '%s', which is not a number"
                            .formatted(i, abbreviate(text), abbreviate(dims[i])));
                }
            }
            return new Header(type, Shape.of(dimensions));
        }
    }

    /** Parses a tensor. */
    public static TensorElements parse(String spec) {
        String text = unquote(spec.trim());
        if (text.isEmpty()) {
            throw invalid("tensor text is empty; write shape, type and values such as 4xf32=1 2 3 4");
        }
        int equals = text.indexOf('=');
        Header header = Header.parse(equals < 0 ? text : text.substring(0, equals));
        TensorElements elements = TensorElements.zeros(header.type(), header.shape());
        String values = equals < 0 ? "" : text.substring(equals + 1);
        if (!values.isEmpty()) {
            parseElements(values, header, elements.host());
        }
        return elements;
    }

    private static void parseElements(String values, Header header, MemorySegment data) {
        ElementCodec codec = ElementCodec.of(header.type());
        long capacity = header.shape().elementCount();
        long count = 0;
        int start = -1;
        for (int i = 0; i <= values.length(); i++) {
            char c = i < values.length() ? values.charAt(i) : ' ';
            boolean separator = Character.isWhitespace(c) || c == ',' || c == '[' || c == ']';
            if (!separator) {
                start = start < 0 ? i : start;
            } else if (start >= 0) {
                if (count == capacity) {
                    throw IreeException.of(
                            StatusCode.OUT_OF_RANGE,
                            "'%s' has more than the %d elements of %s"
                                    .formatted(
                                            abbreviate(values),
                                            capacity,
                                            header.shape().format(header.type())));
                }
                putElement(codec, header.type(), data, count++, values.substring(start, i));
                start = -1;
            }
        }
        if (count == 1 && capacity > 1) {
            splat(codec, data, capacity);
        } else if (count < capacity) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "'%s' has %d elements and %s wants %d (or one, for all of them)"
                            .formatted(abbreviate(values), count, header.shape().format(header.type()), capacity));
        }
    }

    private static void splat(ElementCodec codec, MemorySegment data, long capacity) {
        if (codec.bits() < 8) {
            long value = codec.getLong(data, 0);
            for (long i = 1; i < capacity; i++) {
                codec.putBits(data, i, value);
            }
            return;
        }
        long size = (codec.bits() + 7L) / 8;
        long length = size * capacity;
        for (long done = size; done < length; ) { // doubling: few large copies even for a gigabyte
            long part = Math.min(done, length - done);
            MemorySegment.copy(data, 0, data, done, part);
            done += part;
        }
    }

    private static void putElement(ElementCodec codec, ElementType type, MemorySegment data, long index, String token) {
        try {
            switch (codec.kind()) {
                case FLOAT -> codec.putDouble(data, index, parseFloat(token, codec.isFloat64()));
                case INTEGER -> putInteger(codec, data, index, token);
                case BOOLEAN -> codec.putLong(data, index, parseBoolean(token));
                case RAW -> putHex(data, index, type, token);
            }
        } catch (NumberFormatException e) {
            throw invalid("element %d, '%s', is not a value of type %s%s"
                    .formatted(
                            index,
                            abbreviate(token),
                            type,
                            codec.kind() == ElementCodec.Kind.RAW
                                    ? ", whose values are written as bytes, in hexadecimal; correct the type unless that is meant"
                                    : ""));
        }
    }

    /** Parses an integer as C's {@code strtol} with base 0: decimal, hexadecimal after {@code 0x}, or octal after {@code 0}. */
    static long parseInteger(String token) {
        boolean negative = token.startsWith("-");
        String digits = negative || token.startsWith("+") ? token.substring(1) : token;
        int radix = 10;
        if (digits.startsWith("0x") || digits.startsWith("0X")) {
            digits = digits.substring(2);
            radix = 16;
        } else if (digits.length() > 1 && digits.startsWith("0")) {
            digits = digits.substring(1);
            radix = 8;
        }
        if (digits.isEmpty() || digits.startsWith("-") || digits.startsWith("+")) {
            throw new NumberFormatException(token);
        }
        if (negative) {
            return Long.parseLong("-" + digits, radix);
        }
        return Long.parseUnsignedLong(digits, radix);
    }

    private static void putInteger(ElementCodec codec, MemorySegment data, long index, String token) {
        long value = parseInteger(token);
        boolean negative = token.startsWith("-") && value != 0;
        boolean beyondLong = value < 0 && !negative;
        if (codec.bits() < 64 ? beyondLong : beyondLong && codec.maximum() != -1 || negative && codec.isUnsigned()) {
            throw new NumberFormatException(token);
        }
        codec.putLong(data, index, value);
    }

    static double parseFloat(String token, boolean twice) {
        String bare = token.startsWith("-") || token.startsWith("+") ? token.substring(1) : token;
        double sign = token.startsWith("-") ? -1 : 1;
        switch (bare.toLowerCase(Locale.ROOT)) {
            case "inf", "infinity" -> {
                return sign * Double.POSITIVE_INFINITY;
            }
            case "nan" -> {
                // the sign of a NaN is printed, and therefore parsed as well
                return sign < 0 ? NEGATIVE_NAN : Double.NaN;
            }
            default -> {}
        }
        if (!DECIMAL_FLOAT.matcher(token).matches()) { // Java would also accept 1f and 1d
            throw new NumberFormatException(token);
        }
        String java = bare.startsWith("0x") || bare.startsWith("0X") ? withExponent(token) : token;
        return twice ? Double.parseDouble(java) : Float.parseFloat(java);
    }

    private static String withExponent(String hex) {
        return hex.indexOf('p') < 0 && hex.indexOf('P') < 0 ? hex + "p0" : hex;
    }

    private static long parseBoolean(String token) {
        return switch (token) {
            case "0", "00", "false" -> 0;
            case "1", "01", "true" -> 1;
            default -> throw new NumberFormatException(token);
        };
    }

    private static void putHex(MemorySegment data, long index, ElementType type, String token) {
        int size = ((type.encoding() & 0xFF) + 7) / 8;
        byte[] bytes;
        try {
            bytes = HexFormat.of().parseHex(token);
        } catch (IllegalArgumentException e) {
            throw new NumberFormatException(token);
        }
        if (bytes.length != size) {
            throw invalid("element %d, '%s', has %d hexadecimal digits and type %s wants %d"
                    .formatted(index, abbreviate(token), token.length(), type, size * 2));
        }
        MemorySegment.copy(bytes, 0, data, ValueLayout.JAVA_BYTE, index * size, size);
    }

    /**
     * Appends {@code 2x2xf32=[1 2][3 4]}.
     *
     * @param everyRow whether rows beyond the limit are shown as {@code [...]}, as iree-run-module does
     */
    public static void append(
            StringBuilder out, MemorySegment data, ElementType type, Shape shape, long maximum, boolean everyRow) {
        out.append(shape.format(type)).append('=');
        new Printer(out, data, type, shape, maximum, everyRow).print();
    }

    private static final class Printer {
        private final StringBuilder out;
        private final MemorySegment data;
        private final ElementType type;
        private final ElementCodec codec;
        private final long[] shape;
        private final boolean everyRow;
        private long remaining;
        private long index;

        Printer(StringBuilder out, MemorySegment data, ElementType type, Shape shape, long maximum, boolean everyRow) {
            this.out = out;
            this.data = data;
            this.type = type;
            this.codec = ElementCodec.of(type);
            this.shape = shape.dimensions();
            this.everyRow = everyRow;
            this.remaining = maximum;
        }

        void print() {
            if (shape.length == 0) {
                appendElement(0);
            } else {
                dimension(0);
            }
        }

        private void dimension(int d) {
            if (d == shape.length - 1) {
                row(shape[d]);
                return;
            }
            for (long i = 0; i < shape[d]; i++) {
                if (remaining == 0 && !everyRow) {
                    out.append("...");
                    return;
                }
                out.append('[');
                dimension(d + 1);
                out.append(']');
            }
        }

        private void row(long length) {
            long shown = Math.min(remaining, length);
            remaining -= shown;
            for (long i = 0; i < shown; i++) {
                if (i > 0) {
                    out.append(' ');
                }
                appendElement(index + i);
            }
            index += length;
            if (shown < length) {
                out.append("...");
            }
        }

        private void appendElement(long i) {
            out.append(element(codec, type, data, i));
        }
    }

    /** Formats an element as iree-run-module does. */
    static String element(ElementCodec codec, ElementType type, MemorySegment data, long index) {
        switch (codec.kind()) {
            case INTEGER -> {
                long value = codec.getLong(data, index);
                return codec.isUnsigned() ? Long.toUnsignedString(value) : Long.toString(value);
            }
            case FLOAT -> {
                return general(codec.getDouble(data, index)).toUpperCase(Locale.ROOT);
            }
            case BOOLEAN, RAW -> {
                int size = ((type.encoding() & 0xFF) + 7) / 8;
                byte[] bytes = data.asSlice(index * size, size).toArray(ValueLayout.JAVA_BYTE);
                return HexFormat.of().withUpperCase().formatHex(bytes);
            }
        }
        throw new AssertionError(codec.kind());
    }

    /** Formats as C's {@code %g}: six significant digits, no trailing zeros. */
    static String general(double value) {
        if (Double.isNaN(value)) {
            return Double.doubleToRawLongBits(value) < 0 ? "-nan" : "nan";
        }
        if (Double.isInfinite(value)) {
            return value < 0 ? "-inf" : "inf";
        }
        if (value == 0) {
            return Double.doubleToRawLongBits(value) < 0 ? "-0" : "0";
        }
        BigDecimal rounded = new BigDecimal(value).round(new MathContext(6, RoundingMode.HALF_EVEN));
        int exponent = rounded.precision() - rounded.scale() - 1;
        BigDecimal stripped = rounded.stripTrailingZeros();
        if (exponent >= -4 && exponent < 6) {
            return stripped.toPlainString();
        }
        String digits = stripped.unscaledValue().abs().toString();
        StringBuilder text = new StringBuilder(value < 0 ? "-" : "").append(digits.charAt(0));
        if (digits.length() > 1) {
            text.append('.').append(digits, 1, digits.length());
        }
        return text.append(exponent < 0 ? "e-" : "e+")
                .append(Math.abs(exponent) < 10 ? "0" : "")
                .append(Math.abs(exponent))
                .toString();
    }

    private static String unquote(String text) {
        int start = text.startsWith("\"") ? 1 : 0;
        int end = text.endsWith("\"") && text.length() > start ? text.length() - 1 : text.length();
        return text.substring(start, end);
    }

    /** Abbreviates untrusted text for messages. */
    public static String abbreviate(String text) {
        return text.length() <= 80 ? text : text.substring(0, 77) + "...";
    }

    private static IreeException invalid(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }
}
