package io.github.iree4j.spring.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.spring.HeapAtFirstWrite;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tensors as JSON, with elements written in parts. */
class TensorJsonModuleTests {

    private final JsonMapper mapper =
            JsonMapper.builder().addModule(new TensorJsonModule(1 << 20)).build();

    @ParameterizedTest
    @ValueSource(strings = {"i1", "i4", "i8", "ui8", "i16", "i32", "i64", "f16", "f32", "f64"})
    void elementsAreTheSameInParts(String name) {
        ElementType type = ElementType.parse(name);
        for (int count : List.of(2, 2048, 2050, 16384, 16386, 50_002)) {
            byte[] bytes = new byte[(int) type.byteSize(count)];
            new Random(count).nextBytes(bytes);
            for (int i = 0; type.isBoolean() && i < bytes.length; i++) {
                bytes[i] &= 1;
            }
            Tensor tensor = Tensor.wrap(MemorySegment.ofArray(bytes), type, 2, count / 2);
            JsonNode json = mapper.readTree(mapper.writeValueAsString(tensor));
            assertThat(json.get("shape").toString()).isEqualTo("[2,%d]".formatted(count / 2));
            List<String> written = new ArrayList<>();
            json.get("data").forEach(each -> written.add(each.asString()));
            assertThat(written).isEqualTo(whole(tensor));
        }
    }

    @ParameterizedTest
    @CsvSource({"i1,true", "i8,-5", "ui8,200", "i32,5", "i64,5", "f16,1.5", "bf16,1.5", "f32,1.5", "f64,0.1"})
    void scalarsAreOfAnyType(String type, String value) {
        String json = "{\"shape\":[],\"type\":\"%s\",\"data\":[%s]}".formatted(type, value);
        Tensor scalar = mapper.readValue(json, Tensor.class);
        assertThat(scalar.shape()).isEqualTo(Shape.SCALAR);
        assertThat(scalar.elementType()).isEqualTo(ElementType.parse(type));
        assertThat(mapper.writeValueAsString(scalar)).isEqualTo(json);
    }

    @Test
    void aScalarHasASingleElement() {
        assertThatThrownBy(() -> mapper.readValue("{\"shape\":[],\"type\":\"i32\",\"data\":[1,2]}", Tensor.class))
                .hasMessageContaining("a scalar, of shape [], has one element, not 2");
    }

    private List<String> whole(Tensor tensor) {
        ElementType type = tensor.elementType();
        Object values = type.isBoolean()
                ? tensor.toBooleanArray()
                : type.isInteger()
                        ? tensor.toLongArray()
                        : type.equals(ElementType.F64) ? tensor.toDoubleArray() : tensor.toFloatArray();
        JsonNode array = mapper.readTree(mapper.writeValueAsString(values));
        return IntStream.range(0, array.size())
                .mapToObj(i -> array.get(i).asString())
                .toList();
    }

    @Test
    void largeTensorTakesLittleHeap() {
        int size = 8 << 20;
        Tensor tensor = Tensor.wrap(MemorySegment.ofArray(new byte[size]), ElementType.parse("i8"), size);
        HeapAtFirstWrite out = new HeapAtFirstWrite();
        mapper.writeValue(out, tensor);
        assertThat(out.taken()).isLessThan(2 * size); // as long values 8 times the size
    }
}
