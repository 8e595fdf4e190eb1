package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.status.IreeException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Programs compiled by iree-compile, called like an application calls. */
@SpringBootTest(webEnvironment = WebEnvironment.NONE)
class FixtureInvocationTests {

    @Autowired
    private InvocationService invocations;

    @Autowired
    private Programs programs;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        set(registry, "add.location", "3.11.0/cpu/add.vmfb");
        set(registry, "add-function-ids.location", "3.13.0/cpu/add.vmfb");
        set(registry, "mul.location", "3.11.0/vmvx/simple_mul.vmfb");
        set(registry, "scale.location", "3.11.0/cpu/scale.vmfb");
        set(registry, "scale.parameters.model", "scale_weights.irpa");
        set(registry, "scale-by-zero.location", "3.11.0/cpu/scale.vmfb");
        set(registry, "scale-by-zero.parameters.model", "scale_weights_zero.irpa");
        set(registry, "scale2.location", "3.11.0/cpu/scale2.vmfb");
        set(registry, "scale2.parameters.model", "scale_weights.irpa");
        set(registry, "scale2.parameters.bias", "scale2_bias.irpa");
    }

    private static void set(DynamicPropertyRegistry registry, String property, String file) {
        registry.add("iree.modules." + property, () -> TestModules.fixture(file).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"add.add", "add-function-ids.add"})
    void addsFourFloats(String function) {
        assertThat(call(function, new float[] {1, 2, 3, 4}, new float[] {10, 20, 30, 40}))
                .containsExactly(11, 22, 33, 44);
    }

    @Test
    void scalesByAParameter() {
        assertThat(call("scale.scale", new float[] {1, 2, 3, 4})).containsExactly(2, 4, 6, 8);
    }

    @Test
    void scalesByAStoredParameterOfZeros() {
        assertThat(call("scale-by-zero.scale", new float[] {1, 2, 3, 4})).containsExactly(0, 0, 0, 0);
    }

    @Test
    void scalesAndShiftsByParametersOfTwoScopes() {
        assertThat(call("scale2.scale2", new float[] {1, 2, 3, 4})).containsExactly(12, 14, 16, 18);
    }

    @Test
    void multipliesInBytecodeWithoutNativeCode() {
        float[] twos = new float[100];
        float[] threes = new float[100];
        Arrays.fill(twos, 2);
        Arrays.fill(threes, 3);
        assertThat(call("mul.simple_mul", twos, threes)).hasSize(100).containsOnly(6);
    }

    @Test
    void asynchronousCallsOverlapAndKeepTheirOwnResults() {
        List<Tensor> inputs = IntStream.range(0, 32)
                .mapToObj(i -> Tensor.of(new float[] {i, 1, 2, 3}))
                .toList();
        var futures = inputs.stream()
                .map(input -> invocations.invokeAsync("add.add", input, input))
                .toList();
        for (int i = 0; i < inputs.size(); i++) {
            try (Results results = futures.get(i).join()) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(2 * i, 2, 4, 6);
            }
            inputs.get(i).close();
        }
    }

    @Test
    void reportsMissingScope() {
        ProgramSource source = ProgramSource.builder(
                        "incomplete",
                        TestModules.fixture("3.11.0/cpu/scale2.vmfb").toString())
                .parameters(Map.of(
                        "model",
                        List.of(TestModules.fixture("scale_weights.irpa").toString())))
                .build();
        assertThatExceptionOfType(ProgramLoadException.class)
                .isThrownBy(() -> programs.load(source))
                .withMessageContaining("'bias'")
                .withCauseInstanceOf(IreeException.class);
        assertThat(programs.find("incomplete")).isEmpty();
    }

    private float[] call(String function, float[]... arrays) {
        Tensor[] inputs = Arrays.stream(arrays).map(Tensor::of).toArray(Tensor[]::new);
        try (Results results = invocations.invoke(function, (Object[]) inputs)) {
            return results.tensor(0).toFloatArray();
        } finally {
            for (Tensor input : inputs) {
                input.close();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(IreeAutoConfiguration.class) // the packages below have clients of other tests
    static class Application {}
}
