package io.github.iree4j.spring.serving;

import io.github.iree4j.hal.Shape;
import io.github.iree4j.spring.http.LimitedBody;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * An {@code InferInputTensor}: the description of an input, and typed contents unless the contents are raw.
 *
 * @param name of the input
 * @param datatype of the elements
 * @param shape of the input
 * @param message the encoded message
 * @param from offset of the contents in the message
 * @param length of the contents in bytes; negative for none
 */
record GrpcInput(String name, Datatype datatype, Shape shape, byte[] message, int from, int length) {

    private static final int BYTES_CONTENTS = 8;

    static GrpcInput read(byte[] message) throws IOException {
        ProtoReader in = new ProtoReader("input", new ByteArrayInputStream(message), message.length);
        String name = "";
        String datatype = "";
        long[] dimensions = {};
        int from = 0;
        int length = -1;
        while (in.next()) {
            switch (in.field()) {
                case 1 -> name = in.string();
                case 2 -> datatype = in.string();
                case 3 -> dimensions = GrpcRequestReader.dimensions(in, dimensions);
                case 4 -> GrpcRequestReader.refuse(GrpcParameter.read(in.bytes()), "inputs", "shared_memory_region");
                case 5 -> {
                    if (length >= 0) {
                        throw in.invalid("has 'contents' twice");
                    }
                    length = (int) in.length();
                    from = (int) in.position();
                    in.skip(length);
                }
                default -> in.skip();
            }
        }
        return new GrpcInput(name, Datatype.of(datatype), Shape.of(dimensions), message, from, length);
    }

    boolean hasContents() {
        return length >= 0;
    }

    /** Uploads the typed contents; the memory of the tensor is charged before allocation. */
    void upload(RequestInputs tensors, int index, LimitedBody body) throws IOException {
        int wanted = field();
        if (datatype == Datatype.BYTES) {
            StringElements strings = tensors.strings(index, shape, body);
            ProtoReader in = contents();
            while (in.next()) {
                check(in, wanted);
                strings.add(in.bytes());
            }
            tensors.upload(index, strings);
            return;
        }
        long count = count(wanted);
        if (count != shape.elementCount()) {
            throw InferenceRequest.invalid("'contents' of input '%s' have %d elements, but shape %s has %d"
                    .formatted(
                            Datatype.shortened(name),
                            count,
                            Arrays.toString(shape.dimensions()),
                            shape.elementCount()));
        }
        body.charge(datatype.elementType().byteSize(count));
        tensors.upload(index, datatype, shape, this::writeTo);
    }

    /** Returns the number of the contents field for the datatype. */
    private int field() {
        return switch (datatype) {
            case BOOL -> 1;
            case INT8, INT16, INT32 -> 2;
            case INT64 -> 3;
            case UINT8, UINT16, UINT32 -> 4;
            case UINT64 -> 5;
            case FP32 -> 6;
            case FP64 -> 7;
            case BYTES -> BYTES_CONTENTS;
            case FP16, BF16 ->
                throw InferenceRequest.invalid("input '%s' is %s, which must be in 'raw_input_contents'"
                        .formatted(Datatype.shortened(name), datatype));
        };
    }

    private ProtoReader contents() {
        int size = Math.max(length, 0);
        return new ProtoReader("contents of an input", new ByteArrayInputStream(message, from, size), size);
    }

    private void check(ProtoReader in, int wanted) {
        if (in.field() != wanted) {
            throw InferenceRequest.invalid(
                    "input '%s' is %s, whose contents are field %d of 'contents'; there is field %d"
                            .formatted(Datatype.shortened(name), datatype, wanted, in.field()));
        }
    }

    private long count(int wanted) throws IOException {
        ProtoReader in = contents();
        long count = 0;
        while (in.next()) {
            check(in, wanted);
            if (in.type() != ProtoReader.BYTES) {
                in.skip();
                count++;
                continue;
            }
            long packed = in.length();
            if (datatype.isReal()) {
                count += packed / datatype.bytes();
                in.skip(packed);
            } else {
                for (long end = in.position() + packed; in.position() < end; count++) {
                    in.number();
                }
            }
        }
        return count;
    }

    private void writeTo(MemorySegment memory) throws IOException {
        ProtoReader in = contents();
        long at = 0;
        while (in.next()) {
            if (in.type() != ProtoReader.BYTES) {
                put(memory, at++, datatype.isReal() ? in.fixed() : in.varint());
                continue;
            }
            long packed = in.length();
            if (datatype.isReal()) {
                long elements = packed / datatype.bytes();
                MemorySegment.copy(
                        MemorySegment.ofArray(message),
                        from + in.position(),
                        memory,
                        at * datatype.bytes(),
                        elements * datatype.bytes());
                at += elements;
                in.skip(packed);
            } else {
                for (long end = in.position() + packed; in.position() < end; ) {
                    put(memory, at++, in.number());
                }
            }
        }
    }

    private void put(MemorySegment memory, long at, long value) {
        switch (datatype) {
            case FP32 -> memory.set(ValueLayout.JAVA_INT_UNALIGNED, Integer.BYTES * at, (int) value);
            case FP64 -> memory.set(ValueLayout.JAVA_LONG_UNALIGNED, Long.BYTES * at, value);
            case BOOL -> datatype.put(memory, at, value == 0 ? 0L : 1L);
            case UINT64 -> datatype.put(memory, at, value);
            default -> {
                if (!datatype.holds(value)) {
                    throw InferenceRequest.invalid("element %d of input '%s', %d, is out of the range of %s, %s"
                            .formatted(at, Datatype.shortened(name), value, datatype, datatype.range()));
                }
                datatype.put(memory, at, value);
            }
        }
    }
}
