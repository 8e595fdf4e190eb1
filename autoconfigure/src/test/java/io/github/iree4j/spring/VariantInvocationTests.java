package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.FunctionVariants;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.monitor.VariantListener;
import io.github.iree4j.spring.actuate.endpoint.FunctionDescriptor;
import io.github.iree4j.spring.actuate.endpoint.IreeEndpoint;
import io.github.iree4j.spring.actuate.endpoint.ModuleDescriptor;
import io.github.iree4j.spring.actuate.endpoint.VariantsDescriptor;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.batching.IreeBatchingAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.endpoint.IreeEndpointAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.metrics.IreeMetricsAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.reactive.IreeReactiveAutoConfiguration;
import io.github.iree4j.spring.batching.BatchListener;
import io.github.iree4j.spring.client.IreeClient;
import io.github.iree4j.spring.client.IreeClientFactory;
import io.github.iree4j.spring.reactive.ReactiveInvocationService;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A fixture program compiled for sentences of some lengths, and for any length, called by an application. */
@Timeout(900)
class VariantInvocationTests {

    private static final String SHAPES = "[batch length] fill=1, [batch length] mask -> [batch length], [batch 4]";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    IreeAutoConfiguration.class,
                    IreeBatchingAutoConfiguration.class,
                    IreeReactiveAutoConfiguration.class,
                    IreeEndpointAutoConfiguration.class,
                    IreeMetricsAutoConfiguration.class))
            .withPropertyValues(
                    "management.endpoints.web.exposure.include=iree",
                    "iree.modules.encoder.location=" + TestModules.fixture("3.13.0/cpu/variants.vmfb"),
                    "iree.modules.encoder.parameters.model=" + TestModules.fixture("scale_weights.irpa"));

    /** Equal words and the expected result: each word plus the sum, and twice the sum. */
    private static float[][] sentence(int length, float word) {
        float[][] sentence = new float[1][length];
        java.util.Arrays.fill(sentence[0], word);
        return sentence;
    }

    private static void check(Results results, int length, float word) {
        try (results) {
            assertThat(results.tensor(0).shape()).isEqualTo(Shape.of(1, length));
            assertThat(results.tensor(0).toFloatArray()).containsOnly(word + length * word);
            assertThat(results.tensor(1).toFloatArray()).hasSize(4).containsOnly(2 * length * word);
        }
    }

    @IreeClient("encoder")
    interface Encoder {
        Results encode(float[][] words);
    }

    @Test
    void everyEntryPointSelectsTheFittingVariant() {
        runner.run(context -> {
            InvocationService invocations = context.getBean(InvocationService.class);
            check(invocations.invoke("encoder.encode", (Object) sentence(3, 2)), 3, 2);
            check(
                    invocations
                            .invokeAsync("encoder.encode", (Object) sentence(7, 1))
                            .join(),
                    7,
                    1);
            check(
                    invocations
                            .request("encoder.encode")
                            .inputs((Object) sentence(5, 4))
                            .timeout(java.time.Duration.ofMinutes(1))
                            .invoke(),
                    5,
                    4);
            check(
                    context.getBean(ReactiveInvocationService.class)
                            .invoke("encoder.encode", (Object) sentence(2, 3))
                            .block(),
                    2,
                    3);
            check(new IreeClientFactory(invocations).create(Encoder.class).encode(sentence(4, 1)), 4, 1);
            FunctionVariants variants =
                    invocations.function("encoder.encode").variants().orElseThrow();
            assertThat(variants).isNotNull();
            assertThat(variants.all().stream().mapToLong(each -> each.calls())).containsExactly(0L, 3L, 0L, 2L, 0L);
            assertThat(context.getBean(IreeRuntime.class).monitor().openTensors())
                    .isZero();
        });
    }

    @Test
    void severalRowsAreASingleInputOfEveryEntryPoint() {
        Object[] rows = new float[][] {{1, 1}, {1, 1}}; // as Java passes a float[][]
        runner.withBean(InvocationInterceptor.class, () -> (request, chain) -> chain.proceed(request))
                .run(context -> {
                    InvocationService invocations = context.getBean(InvocationService.class);
                    ReactiveInvocationService reactive = context.getBean(ReactiveInvocationService.class);
                    String encode = "encoder.encode";
                    for (Results each : List.of(
                            invocations.invoke(encode, rows),
                            invocations.invokeAsync(encode, rows).join(),
                            invocations.request(encode).inputs(rows).invoke(),
                            reactive.invoke(encode, rows).block(),
                            invocations.function(encode).invoke(rows))) {
                        try (each) {
                            assertThat(each.tensor(0).shape()).isEqualTo(Shape.of(2, 2));
                            assertThat(each.tensor(0).toFloatArray()).containsOnly(3);
                        }
                    }
                });
    }

    @Test
    void callsOfDifferentLengthsFillTheBatchesOfTheirVariants() {
        List<String> batches = new CopyOnWriteArrayList<>();
        runner.withBean(
                        BatchListener.class,
                        () -> (model, function, calls, rows, padded, nanos) ->
                                batches.add("%s.%s %d calls of %d rows".formatted(model, function, calls, rows)))
                .withPropertyValues(
                        "iree.modules.encoder.batching.enabled=true", "iree.modules.encoder.batching.max-delay=1m")
                .run(context -> {
                    InvocationService invocations = context.getBean(InvocationService.class);
                    List<CompletableFuture<Results>> calls = new ArrayList<>();
                    for (int i = 0; i < 64; i++) {
                        calls.add(invocations.invokeAsync("encoder.encode", (Object) sentence(1 + i % 8, i)));
                    }
                    for (int i = 0; i < 64; i++) {
                        check(calls.get(i).join(), 1 + i % 8, i);
                    }
                    assertThat(batches).hasSize(16).containsOnly("encoder.encode 4 calls of 4 rows");
                    FunctionVariants variants =
                            invocations.function("encoder.encode").variants().orElseThrow();
                    assertThat(variants).isNotNull();
                    assertThat(variants.all().stream().mapToLong(each -> each.calls()))
                            .as("calls of 4x4 and of 4x8")
                            .containsExactly(0L, 0L, 8L, 0L, 8L);
                    assertThat(variants.elements()).isEqualTo(2 * (8 * 16 + 8 * 32));
                    // Of each eight sentences four have 0 to 3 words less than 4, and four 0 to 3 less than 8.
                    awaitEquals(2 * 8 * (6 + 6), variants);
                    assertThat(context.getBean(IreeRuntime.class).monitor().openTensors())
                            .isZero();
                });
    }

    /** Callers receive their results before the last call is counted. */
    private static void awaitEquals(long padding, FunctionVariants variants) {
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (variants.padding() < padding && System.nanoTime() < deadline) {
            Poll.pause();
        }
        assertThat(variants.padding()).isEqualTo(padding);
    }

    @Test
    void callTooLargeForABatchIsMadeAlone() {
        runner.withPropertyValues(
                        "iree.modules.encoder.batching.enabled=true", "iree.modules.encoder.batching.max-delay=1m")
                .run(context -> {
                    try (Results results = context.getBean(InvocationService.class)
                            .invoke("encoder.encode", (Object) new float[40][9])) {
                        assertThat(results.tensor(0).shape()).isEqualTo(Shape.of(40, 9));
                    }
                });
    }

    @Test
    void failureForAnUnsupportedShapeListsTheSupportedShapes() {
        runner.withPropertyValues("iree.modules.encoder.variants.encode.functions=encode_1x4,encode_4x8")
                .run(context -> assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> context.getBean(InvocationService.class)
                                .invoke("encoder.encode", (Object) new float[1][9]))
                        .withMessageContaining("batch 1, length 9")
                        .withMessageContaining("there are batch x length of 1x4, 4x8")
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT)));
    }

    @Test
    void furtherModulesShareTheParametersAndAreClosedWithTheProgram() {
        runner.withPropertyValues(
                        "iree.modules.encoder.contexts=2",
                        "iree.modules.encoder.variants.encode.modules[0].location="
                                + TestModules.fixture("3.13.0/cpu/variants_wide.vmfb"))
                .run(context -> {
                    InvocationService invocations = context.getBean(InvocationService.class);
                    Programs programs = context.getBean(Programs.class);
                    for (int i = 0; i < 4; i++) {
                        check(invocations.invoke("encoder.encode", (Object) sentence(12, 1)), 12, 1);
                    }
                    assertThat(descriptor(context.getBean(IreeEndpoint.class)).functions())
                            .last()
                            .satisfies(wide -> {
                                assertThat(wide.name()).isEqualTo("encode_2x16");
                                assertThat(wide.sizes()).isEqualTo(Map.of("batch", 2L, "length", 16L));
                                assertThat(wide.calls()).isEqualTo(4);
                            });
                    assertThat(programs.activeCalls()).isZero();
                    assertThat(context.getBean(IreeRuntime.class).programs()).hasSize(2);
                    programs.load("encoder", null);
                    check(invocations.invoke("encoder.encode", (Object) sentence(12, 1)), 12, 1);
                    programs.unload("encoder");
                    assertThat(context.getBean(IreeRuntime.class)
                                    .monitor()
                                    .leaks()
                                    .openPrograms())
                            .isZero();
                });
    }

    private static VariantsDescriptor descriptor(IreeEndpoint endpoint) {
        ModuleDescriptor module = (ModuleDescriptor) endpoint.one("modules", "encoder");
        FunctionDescriptor function = module.versions().getFirst().functions().getFirst();
        assertThat(function.name()).isEqualTo("encode");
        return function.variants();
    }

    @Test
    void endpointAndMetersReportPadding() {
        List<String> heard = new CopyOnWriteArrayList<>();
        runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean(VariantListener.class, () -> new VariantListener() {
                    @Override
                    public void called(String consumer, String function, String variant, long elements, long padding) {
                        heard.add(consumer + "." + function + " " + variant);
                    }

                    @Override
                    public void aligned(String consumer, String function, long padding) {
                        heard.add("aligned");
                    }
                })
                .run(context -> {
                    InvocationService invocations = context.getBean(InvocationService.class);
                    check(invocations.invoke("encoder.encode", (Object) sentence(3, 2)), 3, 2);
                    check(invocations.invoke("encoder.encode", (Object) sentence(9, 2)), 9, 2);
                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    assertThat(registry.get("iree.variant.calls")
                                    .tags("module", "encoder", "function", "encode", "variant", "encode_1x4")
                                    .counter()
                                    .count())
                            .isEqualTo(1);
                    assertThat(registry.get("iree.variant.elements").counter().count())
                            .isEqualTo(8 + 18);
                    assertThat(registry.get("iree.variant.padding")
                                    .tags("module", "encoder", "function", "encode")
                                    .counter()
                                    .count())
                            .isEqualTo(2);
                    assertThat(heard).containsExactly("encoder.encode encode_1x4", "encoder.encode encode");
                    VariantsDescriptor variants = descriptor(context.getBean(IreeEndpoint.class));
                    assertThat(variants.shapes()).isEqualTo(SHAPES);
                    assertThat(variants.elements()).isEqualTo(26);
                    assertThat(variants.padding()).isEqualTo(2);
                    assertThat(variants.functions())
                            .map(VariantsDescriptor.Variant::name)
                            .containsExactly("encode", "encode_1x4", "encode_4x4", "encode_1x8", "encode_4x8");
                });
    }

    @Test
    void malformedShapeRulesNameTheProperty() {
        runner.withPropertyValues("iree.modules.encoder.variants.encode.shapes=[batch")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("iree.modules.encoder.variants.encode.shapes")
                        .hasMessageContaining("expected"));
    }

    @Test
    void rejectsMismatchedFurtherModules() {
        String key = "iree.modules.encoder.variants.encode.modules[0].";
        runner.withPropertyValues(
                        key + "location=" + TestModules.fixture("3.13.0/cpu/variants_wide.vmfb"),
                        key + "sha256=" + "0".repeat(64))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("variants_wide.vmfb' has checksum"));
        runner.withPropertyValues(
                        key + "location=" + TestModules.fixture("3.13.0/cpu/variants_wide.vmfb"),
                        key + "sizes.length=8")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("where 'length' is 16, and elsewhere it is 8"));
        runner.withPropertyValues(key + "sha256=12")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("iree.modules.encoder.variants.encode.modules"));
    }

    @Test
    void tensorsOfTheCallerAreNotClosed() {
        runner.withPropertyValues(
                        "iree.modules.encoder.batching.enabled=true", "iree.modules.encoder.batching.max-delay=0ms")
                .run(context -> {
                    InvocationService invocations = context.getBean(InvocationService.class);
                    try (Tensor words = Tensor.of(new float[] {1, 1, 1, 1}, 1, 4)) {
                        check(invocations.invokeAsync("encoder.encode", words).join(), 4, 1);
                        check(invocations.invokeAsync("encoder.encode", words).join(), 4, 1);
                        assertThat(words.isClosed()).isFalse();
                    }
                });
    }
}
