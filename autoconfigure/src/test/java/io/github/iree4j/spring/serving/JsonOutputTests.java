package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.spring.HeapAtFirstWrite;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;

class JsonOutputTests {

    private static void write(OutputStream out, Tensor tensor, Datatype datatype) {
        write(out, new InferenceOutput("output0", datatype, tensor, null, false));
    }

    private static void write(OutputStream out, InferenceOutput output) {
        try (JsonGenerator json = InferenceResponse.JSON.createGenerator(ObjectWriteContext.empty(), out)) {
            json.writeStartArray();
            JsonOutput.write(json, output);
            json.writeEndArray();
        }
    }

    @ParameterizedTest
    @CsvSource({"i8,INT8", "ui8,UINT8", "f16,FP16", "i32,INT32", "ui64,UINT64", "f64,FP64", "i1,BOOL"})
    void elementsAreTheSameInParts(String type, Datatype datatype) {
        ElementType elements = ElementType.parse(type);
        for (int count : List.of(0, 1, 2047, 2048, 2049, 16384, 16385, 50_001)) {
            byte[] bytes = new byte[(int) elements.byteSize(count)];
            new Random(count).nextBytes(bytes);
            Tensor tensor = Tensor.wrap(MemorySegment.ofArray(bytes), elements, count);
            ByteArrayOutputStream written = new ByteArrayOutputStream();
            write(written, tensor, datatype);
            assertThat(written.toString()).isEqualTo(whole(tensor, datatype));
        }
    }

    private static String whole(Tensor tensor, Datatype datatype) {
        int count = (int) tensor.shape().elementCount();
        return switch (datatype) {
            case FP16 -> {
                float[] values = tensor.toFloatArray();
                yield list(count, i -> Float.isFinite(values[i]) ? "" + values[i] : "\"" + values[i] + "\"");
            }
            case FP64 -> {
                double[] values = tensor.toDoubleArray();
                yield list(count, i -> Double.isFinite(values[i]) ? "" + values[i] : "\"" + values[i] + "\"");
            }
            case BOOL -> {
                boolean[] values = tensor.toBooleanArray();
                yield list(count, i -> "" + values[i]);
            }
            case UINT64 -> {
                long[] values = tensor.toLongArray();
                yield list(count, i -> Long.toUnsignedString(values[i]));
            }
            default -> {
                long[] values = tensor.toLongArray();
                yield list(count, i -> "" + values[i]);
            }
        };
    }

    private static String list(int count, java.util.function.IntFunction<String> text) {
        return IntStream.range(0, count).mapToObj(text).collect(Collectors.joining(",", "[", "]"));
    }

    @Test
    void largeOutputTakesLittleHeap() {
        int size = 8 << 20;
        Tensor tensor = Tensor.wrap(MemorySegment.ofArray(new byte[size]), ElementType.parse("i8"), size);
        HeapAtFirstWrite out = new HeapAtFirstWrite();
        write(out, tensor, Datatype.INT8);
        assertThat(out.taken()).isLessThan(2 * size); // as long values 8 times the size
    }

    /** As strings, a string per byte, the output would take 50 times the size. */
    @Test
    void manyShortTextsTakeTheHeapChargedForThem() {
        int size = 4 << 20;
        Tensor tensor =
                Tensor.wrap(MemorySegment.ofArray("a".repeat(size).getBytes()), ElementType.parse("i8"), size, 1);
        HeapAtFirstWrite out = new HeapAtFirstWrite();
        List<InferenceOutput> texts = List.of(new InferenceOutput("output0", Datatype.BYTES, tensor, null, false));
        write(out, InferenceOutput.onHeap(texts).getFirst());
        assertThat(out.taken()).isLessThan(InferenceOutput.most(texts));
    }
}
