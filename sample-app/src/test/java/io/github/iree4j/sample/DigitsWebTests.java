package io.github.iree4j.sample;

import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.endsWith;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.not;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.forwardedUrl;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import io.github.iree4j.sample.HandwrittenDigits.Sample;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.MediaType;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.ResultActions;

@SpringBootTest
@AutoConfigureMockMvc
class DigitsWebTests {

    @TempDir
    static Path models;

    @Autowired
    private MockMvc mvc;

    @DynamicPropertySource
    static void models(DynamicPropertyRegistry registry) {
        registry.add("sample.models", models::toString);
    }

    @Test
    void readsAPicture() throws Exception {
        Sample sample = HandwrittenDigits.load().heldOut().getFirst();
        ask("/digits", "{\"pixels\": %s}".formatted(Arrays.toString(sample.pixels())))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.digit").value(sample.digit()))
                .andExpect(jsonPath("$.probabilities.length()").value(10))
                .andExpect(jsonPath("$.pixels.length()").value(64));
    }

    @Test
    void readsADrawing() throws Exception {
        for (int digit = 0; digit < 10; digit++) {
            String strokes = SyntheticDigits.of(digit).getFirst().strokes().stream()
                    .map(stroke -> stroke.stream()
                            .map(point -> "[%s, %s]".formatted(point.x(), point.y()))
                            .collect(Collectors.joining(",", "[", "]")))
                    .collect(Collectors.joining(",", "[", "]"));
            ask("/digits", "{\"strokes\": %s}".formatted(strokes))
                    .andExpect(status().isOk())
                    .andExpect(jsonPath("$.digit").value(digit));
        }
    }

    @ParameterizedTest
    @MethodSource
    void namesTheInvalidField(String body, String field, String detail) throws Exception {
        ask("/digits", body.replace("PIXELS", "0" + ", 0".repeat(62)))
                .andExpect(status().isBadRequest())
                .andExpect(content().contentType(MediaType.APPLICATION_PROBLEM_JSON))
                .andExpect(jsonPath("$.status").value(400))
                .andExpect(jsonPath("$.field").value(field))
                .andExpect(jsonPath("$.detail").value(containsString(detail)));
    }

    @Test
    void rejectsInvalidJson() throws Exception {
        ask("/digits", "seven")
                .andExpect(status().isBadRequest())
                .andExpect(jsonPath("$.detail").isNotEmpty());
    }

    @Test
    void rejectsLargeAndDeepRequests() throws Exception {
        ask("/digits", "{\"pixels\": [" + "0,".repeat(300_000) + "0]}")
                .andExpect(status().isContentTooLarge())
                .andExpect(jsonPath("$.detail").value(endsWith("is larger than 524288 bytes; send less")));
        ask("/models/digits/classify", "{\"inputs\": [" + "0,".repeat(600_000) + "0]}")
                .andExpect(status().isContentTooLarge());
        ask("/digits", "[".repeat(100_000)).andExpect(status().is4xxClientError());
    }

    @Test
    void servesThePage() throws Exception {
        mvc.perform(get("/")).andExpect(status().isOk()).andExpect(forwardedUrl("index.html"));
        mvc.perform(get("/index.html"))
                .andExpect(status().isOk())
                .andExpect(content().string(containsString("<canvas id=\"paper\"")));
        mvc.perform(get("/digits.js")).andExpect(status().isOk());
        mvc.perform(get("/digits.css")).andExpect(status().isOk());
    }

    @Test
    void describesTheModel() throws Exception {
        mvc.perform(get("/digits"))
                .andExpect(jsonPath("$.model").value("digits"))
                .andExpect(jsonPath("$.function").value("digits.classify"))
                .andExpect(jsonPath("$.device").value(containsString("local")));
    }

    @Test
    void callsAnyFunctionOfAnyProgram() throws Exception {
        Sample sample = HandwrittenDigits.load().heldOut().getFirst();
        ask(
                        "/models/digits/classify",
                        "{\"inputs\": [{\"shape\": [1, 64], \"type\": \"f32\", \"data\": %s}]}"
                                .formatted(Arrays.toString(sample.pixels())))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.outputs[0].type").value("f32"))
                .andExpect(jsonPath("$.outputs[0].shape[0]").value(1))
                .andExpect(jsonPath("$.outputs[0].shape[1]").value(10))
                .andExpect(jsonPath("$.outputs[0].data[%d]".formatted(sample.digit()))
                        .isNumber());
    }

    @ParameterizedTest
    @MethodSource
    void namesTheInvalidInput(String body, String field) throws Exception {
        ask("/models/digits/classify", body)
                .andExpect(status().isBadRequest())
                .andExpect(jsonPath("$.field").value(field));
    }

    @Test
    void reportsUnknownFunctions() throws Exception {
        ask("/models/digits/guess", "{\"inputs\": []}")
                .andExpect(status().isNotFound())
                .andExpect(jsonPath("$.detail").value(containsString("guess")));
        ask("/models/letters/classify", "{\"inputs\": []}")
                .andExpect(status().isNotFound())
                .andExpect(jsonPath("$.detail").value(containsString("letters")));
    }

    @Test
    void servesModulesOfTheDirectory() throws Exception {
        try (InputStream module = getClass().getResourceAsStream("/models/digits.vmfb");
                InputStream parameters = getClass().getResourceAsStream("/models/digits.irpa")) {
            Files.copy(parameters, models.resolve("dropped.model.irpa"));
            Files.copy(module, models.resolve("dropped.vmfb"));
        }
        Files.writeString(models.resolve("broken.vmfb"), "this is not a module");
        mvc.perform(get("/models"))
                .andExpect(jsonPath("$.models[*].name").value(hasItem("dropped")))
                .andExpect(jsonPath("$.models[?(@.name == 'dropped')].functions[0].name")
                        .value(hasItem("classify")))
                .andExpect(jsonPath("$.failed.broken").isNotEmpty());
        ask("/models/dropped/classify", "{\"inputs\": [{\"shape\": [0, 64], \"type\": \"f32\", \"data\": []}]}")
                .andExpect(status().isOk());
        String digit =
                "{\"inputs\": [{\"shape\": [1, 64], \"type\": \"f32\", \"data\": [1%s]}]}".formatted(", 1".repeat(63));
        // Files are overwritten while served, as cp does; if they were mapped, that would crash the process.
        Files.write(models.resolve("dropped.model.irpa"), new byte[0]);
        Files.write(models.resolve("dropped.vmfb"), new byte[0]);
        ask("/models/dropped/classify", digit).andExpect(status().isOk());
        Files.delete(models.resolve("dropped.vmfb"));
        Files.delete(models.resolve("broken.vmfb"));
        mvc.perform(get("/models"))
                .andExpect(jsonPath("$.models[*].name").value(not(hasItem("dropped"))))
                .andExpect(jsonPath("$.failed").isEmpty());
    }

    @Test
    void isHealthyAndShowsItsModulesToOperators() throws Exception {
        mvc.perform(get("/actuator/health/iree"))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.status").value("UP"))
                .andExpect(jsonPath("$.components.modules.components.digits.status")
                        .value("UP"));
        mvc.perform(get("/actuator/iree"))
                .andExpect(jsonPath("$.modules.digits").value("READY"));
        mvc.perform(get("/actuator/iree/modules/digits")).andExpect(content().string(containsString("classify")));
    }

    static Stream<Arguments> namesTheInvalidField() {
        return table("""
                {}                                     | pixels        | 'pixels' is required
                {"pixels": [1, 2, 3]}                  | pixels        | must hold 64 numbers, not 3
                {"pixels": [PIXELS, -1]}               | pixels[63]    | must be between 0 and 16, not -1.0
                {"pixels": [PIXELS, 16.5]}             | pixels[63]    | must be between 0 and 16, not 16.5
                {"pixels": [PIXELS, "dark"]}           | pixels[63]    | is of the wrong type (line 1, column
                {"pixels": [PIXELS, null]}             | pixels[63]    | is of the wrong type (line 1, column
                {"pixels": "none"}                     | pixels        | is of the wrong type (line 1, column
                {"pixels": [PIXELS, 0], "strokes": []} | pixels        | is not allowed beside 'strokes'
                {"strokes": [[[1, 2], [3]]]}           | strokes[0][1] | must be a point
                {"strokes": [[[1, 2], null]]}          | strokes[0][1] | must be a point
                {"strokes": [null]}                    | strokes[0]    | must be a list of points
                {"strokes": [[[1e300, 2]]]}            | strokes[0][0] | must have coordinates within 1000000
                """);
    }

    static Stream<Arguments> namesTheInvalidInput() {
        return table("""
                {}                                                            | inputs
                {"inputs": [null]}                                            | inputs[0]
                {"inputs": ["text"]}                                          | inputs[0]
                {"inputs": [{"type": "f32", "data": [1]}]}                    | inputs[0].shape
                {"inputs": [{"shape": [1], "type": "q7", "data": [1]}]}       | inputs[0].type
                {"inputs": [{"shape": [2], "type": "f32", "data": [1, "x"]}]} | inputs[0].data[1]
                {"inputs": [{"shape": [3], "type": "f32", "data": [1, 2]}]}   | inputs[0]
                {"inputs": [{"shape": [-1], "type": "f32", "data": []}]}      | inputs[0]
                {"inputs": [{"shape": [1], "type": "i8", "data": [1.5]}]}     | inputs[0].data[0]
                """);
    }

    /** A case per line, with cells separated by {@code |}. */
    private static Stream<Arguments> table(String text) {
        return text.lines()
                .map(line -> Arguments.of(
                        Arrays.stream(line.split("[|]")).map(String::strip).toArray()));
    }

    private ResultActions ask(String path, String body) throws Exception {
        return mvc.perform(post(path)
                .contentType(MediaType.APPLICATION_JSON)
                .accept(MediaType.APPLICATION_JSON, MediaType.APPLICATION_PROBLEM_JSON)
                .content(body));
    }
}
