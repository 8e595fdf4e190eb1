package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.spring.http.TensorJsonModule;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

class TensorJsonTests {

    private final JsonMapper mapper =
            JsonMapper.builder().addModule(new TensorJsonModule(1 << 20)).build();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2xi8=1 -1        | {'shape':[2],'type':'i8','data':[1,-1]}",
                "3xi4=1 -1 7      | {'shape':[3],'type':'i4','data':[1,-1,7]}",
                "2xi1=1 0         | {'shape':[2],'type':'i1','data':[true,false]}",
                "1x2xf16=0.5 2    | {'shape':[1,2],'type':'f16','data':[0.5,2.0]}",
                "f64=0.1          | {'shape':[],'type':'f64','data':[0.1]}",
                "1xcf64=0000803f00000000 | {'shape':[1],'type':'cf64','data':'AACAPwAAAAA='}",
            })
    void tensorIsWrittenAfterItWasClosed(String text, String json) {
        Tensor tensor = Tensor.parse(text);
        Object output = TensorJson.of(tensor);
        tensor.close();
        assertThat(mapper.writeValueAsString(output)).isEqualTo(json.replace('\'', '"'));
    }

    @Test
    void outputIsKeptUnchanged() {
        int size = 4 << 20;
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Tensor tensor = Tensor.wrap(MemorySegment.ofArray(new byte[size]), ElementType.parse("i8"), size)) {
            long before = threads.getCurrentThreadAllocatedBytes();
            assertThat(TensorJson.of(tensor)).isInstanceOf(Tensor.class);
            assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                    .as("heap taken")
                    .isLessThan(4L * size); // as long values it would be 8 times its size
        }
    }
}
