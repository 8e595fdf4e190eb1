package io.github.iree4j.spring.autoconfigure.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.NpyFormat;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.DisconnectInterceptor;
import io.github.iree4j.spring.http.IreeProblemAdvice;
import io.github.iree4j.spring.http.TensorHttpMessageConverter;
import io.github.iree4j.spring.http.TensorJsonHttpMessageConverter;
import io.github.iree4j.spring.http.TensorJsonModule;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.util.LambdaSafe;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.ResolvableType;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.MediaType;
import org.springframework.http.codec.HttpMessageReader;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.servlet.DispatcherServlet;
import reactor.core.publisher.Sinks;
import tools.jackson.databind.json.JsonMapper;

/** Tensors as bodies of a Spring MVC controller, and the configuration without parts of the web stack. */
@SpringBootTest(properties = {"iree.http.max-request-size=1KB", "spring.mvc.problemdetails.enabled=true"})
class IreeHttpAutoConfigurationTests {

    private static final AutoConfigurations CONFIGURATIONS = AutoConfigurations.of(IreeHttpAutoConfiguration.class);

    @Autowired
    private WebApplicationContext context;

    @Autowired
    private IreeRuntime runtime;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.add.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    @AfterEach
    void requestsLeaveNothingOpen() {
        assertThat(runtime.monitor().leaks().openTensors()).isZero();
    }

    private MvcTestResult post(String type, String accept, byte[] body) {
        return MockMvcTester.from(context)
                .post()
                .uri("/double")
                .header("Content-Type", type)
                .header("Accept", accept)
                .content(body)
                .exchange();
    }

    private static byte[] npy(Tensor tensor) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        NpyFormat.write(out, tensor);
        return out.toByteArray();
    }

    @Test
    void readsAndWritesNpy() throws IOException {
        MvcTestResult result = post("application/x-npy", "application/x-npy", npy(Tensor.of(new float[] {1, 2, 3, 4})));
        assertThat(result).hasStatusOk().hasContentType("application/x-npy");
        assertThat(NpyFormat.read(new ByteArrayInputStream(result.getResponse().getContentAsByteArray())))
                .hasToString("4xf32=2 4 6 8");
    }

    @Test
    void readsAndWritesRawBytes() {
        MvcTestResult result = post(
                "application/octet-stream;type=f32;shape=\"4\"",
                "application/octet-stream",
                Tensor.of(new float[] {1, 2, 3, 4}).rawBytes());
        assertThat(result).hasStatusOk();
        MediaType type = MediaType.valueOf(String.valueOf(result.getResponse().getContentType()));
        assertThat(type.getParameter("type")).isEqualTo("f32");
        assertThat(type.getParameter("shape")).isEqualTo("\"4\"");
        assertThat(result.getResponse().getContentLength()).isEqualTo(16);
        assertThat(result.getResponse().getContentAsByteArray())
                .isEqualTo(Tensor.of(new float[] {2, 4, 6, 8}).rawBytes());
    }

    @Test
    void readsAndWritesJson() {
        MvcTestResult result = MockMvcTester.from(context)
                .post()
                .uri("/json")
                .accept(MediaType.APPLICATION_JSON)
                .contentType(MediaType.APPLICATION_JSON)
                .content("{\"data\": [1, 2.5, 3, 4], \"shape\": [4], \"type\": \"f32\"}")
                .exchange();
        assertThat(result)
                .hasStatusOk()
                .bodyJson()
                .isEqualTo("{\"shape\": [4], \"type\": \"f32\", \"data\": [2.0, 5.0, 6.0, 8.0]}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "application/octet-stream;type=f32 | 1234 | 400 | 'shape' is missing",
                "application/octet-stream;type=f32;shape=4 | 1234 | 400 | the body of 4 bytes does not match its header: a tensor of 16 bytes",
                "application/octet-stream;type=f32;shape=1 | 12345678 | 400 | longer than the 4 bytes",
                "application/octet-stream;type=q3;shape=1 | 1234 | 400 | q3",
                "application/octet-stream;type=f32;shape=x | 1234 | 400 | dimension 0 of",
                "application/octet-stream;type=f32;shape=1000000000 | 1234 | 400 | a tensor of 4000000000 bytes is larger than 4",
                "application/octet-stream;type=f32;shape=\"9223372036854775807,9\" | 1234 | 400 | ",
                "application/x-npy | 1234 | 400 | ",
                "application/octet-stream | 1234 | 415 | ",
            })
    void reportsInvalidBodies(String type, String body, int status, String detail) {
        MvcTestResult result =
                post(type, "application/x-npy, application/problem+json", body.getBytes(StandardCharsets.US_ASCII));
        assertThat(result).hasStatus(status);
        if (detail != null) {
            assertThat(result).bodyJson().extractingPath("$.detail").asString().contains(detail);
        }
    }

    @Test
    void rejectsTensorsBeyondTheLimit() {
        MvcTestResult result = post(
                "application/octet-stream;type=f32;shape=300",
                "application/x-npy, application/problem+json",
                new byte[1200]);
        assertThat(result).hasStatus(413);
        assertThat(result)
                .bodyJson()
                .extractingPath("$.detail")
                .asString()
                .contains("1200 bytes is larger than 1024")
                .contains("'iree.http.max-request-size'");
    }

    @Test
    void failuresAreProblemDetails() throws IOException {
        MvcTestResult result = post(
                "application/x-npy", "application/x-npy, application/problem+json", npy(Tensor.of(new float[] {1, 2})));
        assertThat(result).hasStatus(400).hasContentType(MediaType.APPLICATION_PROBLEM_JSON);
        assertThat(result).bodyJson().extractingPath("$.code").isEqualTo("INVALID_ARGUMENT");
        assertThat(result)
                .bodyJson()
                .extractingPath("$.detail")
                .asString()
                .contains("tensor<4xf32>")
                .contains("2xf32");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"shape\": [2], \"data\": [1, 2]} | 2xf32=1 2",
                "{\"shape\": [1, 2], \"type\": \"si64\", \"data\": [1, -2]} | 1x2xsi64=[1 -2]",
                "{\"shape\": [2], \"type\": \"f64\", \"data\": [0.1, 2]} | 2xf64=0.1 2",
                "{\"shape\": [2], \"type\": \"i1\", \"data\": [true, false]} | 2xi1=01 00",
                "{\"shape\": [2], \"type\": \"f16\", \"data\": [1, 2]} | 2xf16=1 2",
                "{\"shape\": [], \"data\": [7]} | f32=7",
            })
    void jsonIsRead(String json, String tensor) {
        JsonMapper mapper =
                JsonMapper.builder().addModule(new TensorJsonModule(1 << 20)).build();
        assertThat(mapper.readValue(json, Tensor.class)).hasToString(tensor);
        Tensor read = mapper.readValue(json, Tensor.class);
        assertThat(mapper.readValue(
                                mapper.writeValueAsString(read).replace("\"shape\":[]", "\"shape\":[]"), Tensor.class)
                        .elementType())
                .isEqualTo(read.elementType());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "7 | a tensor is",
                "{} | a tensor needs 'shape'",
                "{\"shape\": [1]} | a tensor needs 'data'",
                "{\"shape\": [1.5], \"data\": []} | integers",
                "{\"shape\": [2], \"data\": [1]} | does not fill",
                "{\"shape\": [1], \"type\": \"i8\", \"data\": [1.5]} | with a fraction",
                "{\"shape\": [1], \"type\": \"i8\", \"data\": [300]} | 300",
                "{\"shape\": [1], \"data\": [\"x\"]} | element 0 is not a number",
                "{\"shape\": [1], \"type\": \"q\", \"data\": [1]} | not an element type",
                "{\"colour\": 1} | no 'colour'",
            })
    void reportsInvalidJson(String json, String message) {
        JsonMapper mapper =
                JsonMapper.builder().addModule(new TensorJsonModule(1 << 20)).build();
        org.assertj.core.api.Assertions.assertThatException()
                .isThrownBy(() -> mapper.readValue(json, Tensor.class))
                .withMessageContaining(message);
    }

    /** An application's own controllers keep their answers unless the application asks for problem details. */
    @Test
    void problemDetailsFollowSpringBootsSwitch() {
        WebApplicationContextRunner web = new WebApplicationContextRunner().withConfiguration(CONFIGURATIONS);
        ReactiveWebApplicationContextRunner reactive =
                new ReactiveWebApplicationContextRunner().withConfiguration(CONFIGURATIONS);
        web.run(context -> assertThat(context).doesNotHaveBean(IreeProblemAdvice.class));
        reactive.run(context -> assertThat(context).doesNotHaveBean(IreeProblemAdvice.class));
        web.withPropertyValues("spring.mvc.problemdetails.enabled=true")
                .run(context -> assertThat(context).hasSingleBean(IreeProblemAdvice.class));
        reactive.withPropertyValues("spring.webflux.problemdetails.enabled=true")
                .run(context -> assertThat(context).hasSingleBean(IreeProblemAdvice.class));
        web.withPropertyValues("spring.mvc.problemdetails.enabled=true", "iree.http.problem-details=false")
                .run(context -> assertThat(context).doesNotHaveBean(IreeProblemAdvice.class));
        reactive.withPropertyValues("iree.http.problem-details=true")
                .run(context -> assertThat(context).hasSingleBean(IreeProblemAdvice.class));
    }

    /** Unless the protocol is served, or the application asks for an end of the calls of vanished clients. */
    @ParameterizedTest
    @CsvSource({
        "iree.serving.enabled=false,   iree.enabled=true,             ''",
        "iree.serving.enabled=true,    iree.enabled=true,             UnreadBodyValve ClientConnectionValve",
        "iree.serving.enabled=true,    iree.http.watch-clients=false, UnreadBodyValve",
        "iree.serving.enabled=false,   iree.http.watch-clients=true,  ClientConnectionValve"
    })
    @SuppressWarnings("unchecked") // the customizers of other servers are skipped
    void withoutServingTomcatHasItsUsualValves(String serving, String watching, String expected) {
        new WebApplicationContextRunner()
                .withConfiguration(CONFIGURATIONS)
                .withPropertyValues(serving, watching)
                .run(context -> {
                    TomcatServletWebServerFactory tomcat = new TomcatServletWebServerFactory();
                    int before = tomcat.getEngineValves().size();
                    for (WebServerFactoryCustomizer<?> each : context.getBeansOfType(WebServerFactoryCustomizer.class)
                            .values()) {
                        LambdaSafe.callback(WebServerFactoryCustomizer.class, each, tomcat)
                                .invoke(customizer -> customizer.customize(tomcat));
                    }
                    assertThat(tomcat.getEngineValves().stream()
                                    .skip(before)
                                    .map(each -> each.getClass().getSimpleName()))
                            .containsExactlyInAnyOrder(expected.isEmpty() ? new String[0] : expected.split(" "));
                    assertThat(context.getBeansOfType(DisconnectInterceptor.class))
                            .hasSize(expected.contains("ClientConnectionValve") ? 1 : 0);
                });
    }

    // Missing libraries.

    @Test
    void eachPartWorksWithoutTheOthers() {
        WebApplicationContextRunner web = new WebApplicationContextRunner().withConfiguration(CONFIGURATIONS);
        web.run(context -> assertThat(context)
                .hasSingleBean(TensorHttpMessageConverter.class)
                .hasSingleBean(TensorJsonModule.class)
                .doesNotHaveBean(TensorJsonHttpMessageConverter.class) // there is no mapper
                .doesNotHaveBean(WebFluxConfigurer.class));
        web.withClassLoader(new FilteredClassLoader("tools.jackson"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(TensorJsonModule.class));
        web.withClassLoader(new FilteredClassLoader(DispatcherServlet.class))
                .withPropertyValues("iree.http.problem-details=true")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(IreeProblemAdvice.class));
        web.withClassLoader(new FilteredClassLoader("org.springframework.web.reactive", "reactor"))
                .run(context -> assertThat(context).hasNotFailed());
        web.withBean(JsonMapper.class)
                .run(context -> assertThat(context).hasSingleBean(TensorJsonHttpMessageConverter.class));
        ReactiveWebApplicationContextRunner reactive =
                new ReactiveWebApplicationContextRunner().withConfiguration(CONFIGURATIONS);
        reactive.withBean(JsonMapper.class)
                .run(context -> assertThat(context)
                        .hasBean("ireeTensorCodecs")
                        .hasBean("ireeTensorJsonCodecs")
                        .doesNotHaveBean(TensorHttpMessageConverter.class));
        web.withPropertyValues("iree.http.max-request-size=3GB")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("iree.http.max-request-size"));
    }

    @Test
    void webFluxReadsAndWritesTensorsToo() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(CONFIGURATIONS)
                .run(context -> {
                    ServerCodecConfigurer codecs = ServerCodecConfigurer.create();
                    context.getBean("ireeTensorCodecs", WebFluxConfigurer.class).configureHttpMessageCodecs(codecs);
                    ResolvableType tensor = ResolvableType.forClass(Tensor.class);
                    assertThat(codecs.getReaders())
                            .anyMatch(reader -> reader.canRead(tensor, MediaType.valueOf("application/x-npy")));
                    assertThat(codecs.getWriters())
                            .anyMatch(writer -> writer.canWrite(tensor, MediaType.valueOf("application/x-npy")));
                    io.github.iree4j.spring.http.TensorEncoder encoder =
                            new io.github.iree4j.spring.http.TensorEncoder();
                    var buffers = org.springframework.core.io.buffer.DefaultDataBufferFactory.sharedInstance;
                    Tensor sent = Tensor.of(new int[] {1, 2, 3});
                    var encoded =
                            encoder.encodeValue(sent, buffers, tensor, MediaType.valueOf("application/x-npy"), null);
                    assertThat(sent.isClosed()).isTrue();
                    Tensor received = new io.github.iree4j.spring.http.TensorDecoder(4096)
                            .decode(encoded, tensor, MediaType.valueOf("application/x-npy"), null);
                    assertThat(received.elementType()).isEqualTo(ElementType.SI32);
                    assertThat(received.toIntArray()).containsExactly(1, 2, 3);
                });
    }

    @Test
    void webFluxChargesArrivingJsonToTheMemoryOfRequestsInFlight() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(CONFIGURATIONS)
                .withBean(JsonMapper.class)
                .withPropertyValues("iree.http.max-in-flight-size=64KB")
                .run(context -> {
                    ServerCodecConfigurer codecs = ServerCodecConfigurer.create();
                    context.getBean("ireeTensorJsonCodecs", WebFluxConfigurer.class)
                            .configureHttpMessageCodecs(codecs);
                    ResolvableType tensor = ResolvableType.forClass(Tensor.class);
                    HttpMessageReader<?> reader = codecs.getReaders().stream()
                            .filter(each -> each.canRead(tensor, MediaType.APPLICATION_JSON))
                            .findFirst()
                            .orElseThrow();
                    Sinks.Many<DataBuffer> body = Sinks.many().unicast().onBackpressureBuffer();
                    AtomicReference<Throwable> failure = new AtomicReference<>();
                    MockServerHttpRequest request = MockServerHttpRequest.post("/")
                            .contentType(MediaType.APPLICATION_JSON)
                            .body(body.asFlux());
                    reader.readMono(tensor, request, Map.of()).subscribe(_ -> {}, failure::set);
                    BodyLimits limits = context.getBean(BodyLimits.class);
                    String part = "[" + "1,".repeat(500);
                    body.tryEmitNext(buffer("{\"data\": " + part));
                    assertThat(limits.inFlight()).isGreaterThan(8L * part.length());
                    for (int i = 0; i < 64 && failure.get() == null; i++) {
                        body.tryEmitNext(buffer("1,".repeat(500)));
                    }
                    assertThat(failure.get()).hasMessageContaining("iree.http.max-in-flight-size");
                    assertThat(limits.inFlight()).isZero();
                });
    }

    private static DataBuffer buffer(String text) {
        return DefaultDataBufferFactory.sharedInstance.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    @RestController
    static class Doubling {
        private final InvocationService invocations;

        Doubling(InvocationService invocations) {
            this.invocations = invocations;
        }

        @PostMapping(
                path = "/double",
                produces = {"application/x-npy", "application/octet-stream"})
        Tensor twice(@RequestBody Tensor input) {
            try (Results results = invocations.invoke("add.add", input, input)) {
                return results.take(0);
            }
        }

        @PostMapping("/json")
        Tensor json(@RequestBody Tensor input) {
            try (Results results = invocations.invoke("add.add", input, input)) {
                return results.take(0);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Doubling.class)
    static class Application {}
}
