package io.github.iree4j.spring.serving;

import io.github.iree4j.Tensor;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.spring.serving.ServedModels.Served;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The range of the values of an input. Compiled code trusts its inputs: a value used as an index beyond a table reads
 * other memory, perhaps of other requests. A module does not tell which values are indices, so the operator does, with
 * {@code iree.serving.ranges}.
 *
 * @param least the least value
 * @param most the greatest value; at least {@code least}
 */
@NotForApplications
public record ValueRange(long least, long most) {

    private static final Pattern FORM = Pattern.compile("\\s*(-?\\d{1,19})\\s*\\.\\.\\s*(-?\\d{1,19})\\s*");

    /** Checks the order. */
    public ValueRange {
        if (least > most) {
            throw new IllegalArgumentException("the range %d..%d is empty".formatted(least, most));
        }
    }

    /**
     * Reads a range.
     *
     * @param text for example {@code 0..30521}, both ends included
     * @return the range
     * @throws IllegalArgumentException when the text is no range of 64-bit integers
     */
    public static ValueRange of(String text) {
        Matcher found = FORM.matcher(text);
        if (!found.matches()) {
            throw new IllegalArgumentException(
                    "'%s' is no range of whole numbers such as 0..30521".formatted(Datatype.shortened(text)));
        }
        return new ValueRange(Long.parseLong(found.group(1)), Long.parseLong(found.group(2)));
    }

    /**
     * Checks the values of a request.
     *
     * @param served the model, with its ranges
     * @param inputs in the order of the function's arguments
     * @param body is charged while the values are looked at
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT, naming the first value outside its range
     */
    static void check(Served served, List<Tensor> inputs, LimitedBody body) {
        if (served.ranges().isEmpty()) {
            return;
        }
        List<ValueDeclaration> arguments = served.function().arguments();
        for (int i = 0; i < arguments.size(); i++) {
            String name = ValueDeclaration.name(arguments, i, "input");
            ValueRange range = served.ranges().get(name);
            boolean isOfAnother = arguments
                    .get(i)
                    .elementType()
                    .filter(ElementType::isFloat)
                    .isPresent(); // input of the same name, of another function
            if (range != null && !isOfAnother) {
                Tensor input = inputs.get(i);
                body.charge(input.byteSize()); // a copy
                range.check(served, name, input);
                body.refund(input.byteSize());
            }
        }
    }

    private void check(Served served, String name, Tensor input) {
        ElementType type = input.elementType();
        if (type.isFloat() || type.bitCount() < Byte.SIZE) {
            throw InferenceRequest.invalid(
                    "input '%s' takes whole numbers from %s, not %s".formatted(name, this, type));
        }
        MemorySegment values = MemorySegment.ofArray(input.rawBytes());
        for (long at = 0; at < input.shape().elementCount(); at++) {
            long value = value(values, type, at);
            boolean isHuge = value < 0 && type.isUnsigned(); // beyond 63 bits
            if (isHuge || value < least || value > most) {
                throw InferenceRequest.invalid(
                        "element %d of input '%s' is %s, and the input takes values from %s; the operator may change that with 'iree.serving.ranges.%s.%s'"
                                .formatted(
                                        at,
                                        name,
                                        isHuge ? Long.toUnsignedString(value) : value,
                                        this,
                                        served.located().program().source().name(),
                                        name));
            }
        }
    }

    private static long value(MemorySegment values, ElementType type, long at) {
        boolean unsigned = type.isUnsigned() || type.equals(ElementType.BOOL_8);
        return switch (type.bitCount()) {
            case 8 -> {
                byte value = values.get(ValueLayout.JAVA_BYTE, at);
                yield unsigned ? Byte.toUnsignedLong(value) : value;
            }
            case 16 -> {
                short value = values.getAtIndex(ValueLayout.JAVA_SHORT_UNALIGNED, at);
                yield unsigned ? Short.toUnsignedLong(value) : value;
            }
            case 32 -> {
                int value = values.getAtIndex(ValueLayout.JAVA_INT_UNALIGNED, at);
                yield unsigned ? Integer.toUnsignedLong(value) : value;
            }
            default -> values.getAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, at);
        };
    }

    @Override
    public String toString() {
        return "%d to %d".formatted(least, most);
    }
}
