package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.NpyFormat;
import io.github.iree4j.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

/** Both models in sequence on a single device. */
@SpringBootTest
@AutoConfigureMockMvc
class ScansWebTests {

    @Autowired
    private MockMvcTester mvc;

    @Autowired
    private IreeRuntime runtime;

    /** Each pixel as so many of the dots of its block. */
    private static float[] dots(float[] pixels) {
        float[] dots = new float[1024];
        for (int y = 0; y < 32; y++) {
            for (int x = 0; x < 32; x++) {
                int nth = y % 4 * 4 + x % 4;
                dots[y * 32 + x] = nth < pixels[y / 4 * 8 + x / 4] ? 1 : 0;
            }
        }
        return dots;
    }

    @Test
    void readsScansFromANumpyArray() throws IOException {
        List<HandwrittenDigits.Sample> samples =
                HandwrittenDigits.load().heldOut().subList(0, 20);
        float[] scans = new float[20 * 1024];
        for (int i = 0; i < samples.size(); i++) {
            System.arraycopy(dots(samples.get(i).pixels()), 0, scans, i * 1024, 1024);
        }
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        NpyFormat.write(body, Tensor.of(scans, 20, 1024));
        MvcTestResult result = mvc.post()
                .uri("/scans")
                .header("Content-Type", "application/x-npy")
                .content(body.toByteArray())
                .exchange();
        assertThat(result).hasStatusOk();
        int right = 0;
        for (int i = 0; i < samples.size(); i++) {
            int expected = samples.get(i).digit();
            right += result.getResponse()
                            .getContentAsString()
                            .split("\\{\"digit\":")[i + 1]
                            .startsWith("" + expected)
                    ? 1
                    : 0;
        }
        assertThat(right).as("correctly read scans, of 20").isGreaterThanOrEqualTo(18);
        assertThat(runtime.monitor().leaks().openTensors()).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "application/x-npy | the body is empty; a body of type application/x-npy is required",
                "application/json  | a JSON body is required",
            })
    void asksForABodyOfTheContentType(String type, String detail) {
        MvcTestResult result =
                mvc.post().uri("/scans").header("Content-Type", type).exchange();
        assertThat(result).hasStatus(400);
        assertThat(result).bodyJson().extractingPath("$.detail").isEqualTo(detail);
    }

    @Test
    void reportsShapeOfInvalidScans() {
        MvcTestResult result = mvc.post()
                .uri("/scans")
                .contentType(MediaType.APPLICATION_JSON)
                .content("{\"shape\": [1, 3], \"type\": \"f32\", \"data\": [0, 1, 0]}")
                .exchange();
        assertThat(result).hasStatus(400);
        assertThat(result).bodyJson().extractingPath("$.detail").asString().contains("tensor<?x1024xf32>");
        assertThat(result).bodyJson().extractingPath("$.code").isEqualTo("INVALID_ARGUMENT");
    }

    @Test
    void servesModelsOverTheOpenInferenceProtocol() {
        assertThat(mvc.get().uri("/v2/models/digits").exchange())
                .bodyJson()
                .extractingPath("$.inputs[0].shape")
                .isEqualTo(List.of(-1, 64));
        MvcTestResult result = mvc.post()
                .uri("/v2/models/scans/infer")
                .contentType(MediaType.APPLICATION_JSON)
                .content(
                        "{\"inputs\": [{\"name\": \"input0\", \"shape\": [1, 1024], \"datatype\": \"FP32\", \"data\": [%s]}]}"
                                .formatted("1,".repeat(1023) + "1"))
                .exchange();
        assertThat(result).hasStatusOk();
        assertThat(result).bodyJson().extractingPath("$.outputs[0].data[63]").isEqualTo(16.0);
    }
}
