package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@ExtendWith(OutputCaptureExtension.class)
class RenamedPropertiesTests {

    /** An application of which only the environment is looked at. */
    @Configuration(proxyBeanMethods = false)
    static class Empty {}

    private static StandardEnvironment environment(MapPropertySource... sources) {
        StandardEnvironment environment = new StandardEnvironment();
        for (MapPropertySource source : sources) {
            environment.getPropertySources().addLast(source);
        }
        ConfigurationPropertySources.attach(environment);
        new RenamedProperties(destination -> destination.get())
                .postProcessEnvironment(environment, new SpringApplication(Empty.class));
        return environment;
    }

    private static MapPropertySource source(String name, String... properties) {
        Map<String, Object> all = new LinkedHashMap<>();
        for (int i = 0; i < properties.length; i += 2) {
            all.put(properties[i], properties[i + 1]);
        }
        return new MapPropertySource(name, all);
    }

    private static IreeProperties bind(StandardEnvironment environment) {
        return Binder.get(environment).bindOrCreate("iree", IreeProperties.class);
    }

    static List<RenamedProperties.Former> former() {
        return RenamedProperties.FORMER;
    }

    @ParameterizedTest
    @MethodSource("former")
    void valueOfAFormerNameIsReadUnderTheNewOne(RenamedProperties.Former former, CapturedOutput output) {
        String name = former.name().replace("*", "a-1");
        StandardEnvironment environment = environment(source("given", name, "7"));
        if (former.replacement() == null) {
            assertThat(environment.getPropertySources()).hasSize(4);
            assertThat(output).contains("property '%s' was removed".formatted(name), former.reason());
        } else {
            String replacement = former.replacement().replace("*", "a-1");
            assertThat(environment.getProperty(replacement)).isEqualTo("7");
            assertThat(output).contains("property '%s' is '%s' now".formatted(name, replacement));
        }
    }

    @Test
    void keysKeepTheirCharacters() {
        IreeProperties properties = bind(environment(source(
                "given",
                "iree.pools[A.b_C].waiting.limit",
                "5s",
                "iree.pools[a.b].waiting.limit",
                "6s",
                "iree.devices.two.channel.count",
                "3",
                "iree.devices.two.channelRank",
                "9",
                "iree.modules.m.overlappingCalls",
                "true")));
        assertThat(properties.advanced().pool("A.b_C").waiting().limit()).isEqualTo(Duration.ofSeconds(5));
        assertThat(properties.advanced().pool("a.b").waiting().limit()).isEqualTo(Duration.ofSeconds(6));
        assertThat(properties.advanced().device("two").channel().count()).isEqualTo(3);
        assertThat(properties.advanced().device("two").channel().rank()).isNull();
        assertThat(properties.advanced().overlappingCalls("m")).isTrue();
    }

    @Test
    void sourcesKeepTheirOrder() {
        assertThat(bind(environment(
                                source("strong", "iree.frontier.capacity", "3"),
                                source("weak", "iree.advanced.frontier.capacity", "4")))
                        .advanced()
                        .frontier()
                        .capacity())
                .isEqualTo(3);
        assertThat(bind(environment(
                                source("strong", "iree.advanced.frontier.capacity", "3"),
                                source("weak", "iree.frontier.capacity", "4")))
                        .advanced()
                        .frontier()
                        .capacity())
                .isEqualTo(3);
        assertThat(bind(environment(
                                source("one", "iree.frontier.capacity", "4", "iree.advanced.frontier.capacity", "3")))
                        .advanced()
                        .frontier()
                        .capacity())
                .as("both names in one source")
                .isEqualTo(3);
    }

    /** An operator's limit must not be lost because the name of its property was changed. */
    @Test
    void limitOfTheProtocolCountsBeforeTheOneOfTensors() {
        StandardEnvironment environment = environment(
                source("given", "iree.http.max-tensor-size", "64MB", "iree.serving.max-request-size", "1MB"));
        assertThat(environment.getProperty("iree.http.max-request-size")).isEqualTo("1MB");
    }

    @Test
    void environmentVariablesAreMapped() {
        StandardEnvironment environment = environment(new SystemEnvironmentPropertySource(
                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                Map.of("IREE_SERVING_MAXREQUESTSIZE", "1MB", "IREE_POOLS_LOCAL_WAITING_HOST", "3s")));
        assertThat(environment.getProperty("iree.http.max-request-size")).isEqualTo("1MB");
        assertThat(bind(environment).advanced().pool("local").waiting().host()).isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void otherNamesAreLeftAlone() {
        StandardEnvironment environment = environment(source(
                "given",
                "iree.queues.a.devices",
                "x",
                "iree.task",
                "x",
                "other.task.affinity",
                "x",
                "iree.advanced.task.affinity",
                "true"));
        assertThat(environment.getPropertySources()).hasSize(4);
    }

    @Test
    void applicationReadsFormerNames(CapturedOutput output) {
        SpringApplication application = new SpringApplication(Empty.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        try (ConfigurableApplicationContext context = application.run("--iree.frontier.capacity=5")) {
            assertThat(context.getEnvironment().getProperty("iree.advanced.frontier.capacity"))
                    .isEqualTo("5");
        }
        assertThat(output).contains("property 'iree.frontier.capacity' is 'iree.advanced.frontier.capacity' now");
    }

    /** What editors and the migrator of Spring Boot read. */
    @Test
    void metadataHasAllFormerNames() throws Exception {
        List<RenamedProperties.Former> found = new ArrayList<>();
        try (InputStream in = Objects.requireNonNull(RenamedProperties.class
                .getClassLoader()
                .getResourceAsStream("META-INF/additional-spring-configuration-metadata.json"))) {
            for (JsonNode each : JsonMapper.shared().readTree(in).required("properties")) {
                JsonNode deprecation = each.path("deprecation");
                if (!deprecation.isMissingNode()) {
                    assertThat(deprecation.required("level").stringValue()).isEqualTo("error");
                    found.add(new RenamedProperties.Former(
                            each.required("name").stringValue(),
                            deprecation.path("replacement").stringValue(null),
                            deprecation.required("reason").stringValue()));
                }
            }
        }
        assertThat(found).containsExactlyInAnyOrderElementsOf(RenamedProperties.FORMER);
    }
}
