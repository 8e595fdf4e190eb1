package io.github.iree4j.spring.ai.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.spring.ai.encoder.SmallEncoder;
import io.github.iree4j.spring.ai.openai.OpenAiController;
import io.github.iree4j.spring.ai.openai.OpenAiModels;
import io.github.iree4j.spring.ai.openai.OpenAiOptions;
import io.github.iree4j.spring.ai.openai.ReactiveOpenAiController;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpAutoConfiguration;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.DisconnectInterceptor;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

@Timeout(300)
class IreeOpenAiAutoConfigurationTests {
    private static final AutoConfigurations ALL = AutoConfigurations.of(
            IreeAutoConfiguration.class,
            IreeHttpAutoConfiguration.class,
            IreeChatAutoConfiguration.class,
            IreeEmbeddingAutoConfiguration.class,
            IreeOpenAiAutoConfiguration.class);

    private final WebApplicationContextRunner servlet =
            new WebApplicationContextRunner().withConfiguration(ALL).withUserConfiguration(Mvc.class);
    private final WebApplicationContextRunner enabled = servlet.withPropertyValues("iree.openai.enabled=true");

    @EnableWebMvc
    private static final class Mvc {}

    private static MockHttpServletResponse post(OpenAiController controller, String path, String body)
            throws Exception {
        MockMvc mvc = MockMvcBuilders.standaloneSetup(controller).build();
        return mvc.perform(MockMvcRequestBuilders.post(path)
                        .contentType("application/json")
                        .content(body))
                .andReturn()
                .getResponse();
    }

    @Test
    void nothingIsServedUnlessEnabled() {
        servlet.run(context -> assertThat(context).doesNotHaveBean(OpenAiController.class));
    }

    @Test
    void missingModelsAreNotFound() {
        enabled.run(context -> {
            OpenAiController controller = context.getBean(OpenAiController.class);
            for (String path : new String[] {"chat/completions", "completions", "embeddings"}) {
                MockHttpServletResponse response = post(controller, "/v1/" + path, "{}");
                assertThat(response.getStatus()).isEqualTo(404);
                assertThat(response.getContentAsString())
                        .contains(
                                "\"code\":\"model_not_found\"",
                                path.equals("embeddings") ? "iree.ai.embedding.module" : "iree.ai.chat.module");
            }
        });
    }

    @Test
    void anEmbeddingModelIsServedWithoutTheGeneratingLibrary() {
        enabled.withPropertyValues(SmallEncoder.properties())
                .withClassLoader(new FilteredClassLoader(Generator.class))
                .run(context -> {
                    assertThat(context.getBean(OpenAiModels.class).chat()).isNull();
                    MockHttpServletResponse response =
                            post(context.getBean(OpenAiController.class), "/v1/embeddings", "{\"input\": \"a\"}");
                    assertThat(response.getStatus())
                            .as(response.getContentAsString())
                            .isEqualTo(200);
                });
    }

    @Test
    void withoutSpringAiOrTheWebThereIsNoInterface() {
        enabled.withClassLoader(new FilteredClassLoader(ChatModel.class, HuggingFaceTokenizer.class))
                .run(context -> assertThat(context).doesNotHaveBean(OpenAiController.class));
        new ApplicationContextRunner()
                .withConfiguration(ALL)
                .withPropertyValues("iree.openai.enabled=true")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(OpenAiController.class)
                        .doesNotHaveBean(ReactiveOpenAiController.class));
    }

    @Test
    void webFluxHasItsController() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(ALL)
                .withPropertyValues("iree.openai.enabled=true")
                .run(context -> assertThat(context)
                        .hasSingleBean(ReactiveOpenAiController.class)
                        .doesNotHaveBean(OpenAiController.class));
    }

    @Test
    void controllersBackOff() {
        OpenAiController own = new OpenAiController(
                new OpenAiModels(null, null),
                new OpenAiOptions(1 << 20, 1, OpenAiOptions.Tenant.USER),
                new BodyLimits(1 << 20, Duration.ofSeconds(1), 1));
        enabled.withBean(OpenAiController.class, () -> own)
                .run(context ->
                        assertThat(context.getBean(OpenAiController.class)).isSameAs(own));
    }

    @Test
    void callsEndWithTheConnectionsOfTheirClients() {
        servlet.run(context -> assertThat(context).doesNotHaveBean(DisconnectInterceptor.class));
        enabled.run(context -> assertThat(context).hasSingleBean(DisconnectInterceptor.class));
        enabled.withPropertyValues("iree.http.watch-clients=false")
                .run(context -> assertThat(context).doesNotHaveBean(DisconnectInterceptor.class));
    }

    @Test
    void aNegativeLimitFailsTheStart() {
        enabled.withPropertyValues("iree.openai.max-concurrent-requests=-1")
                .run(context ->
                        assertThat(context).getFailure().rootCause().hasMessageContaining("It must not be negative."));
    }
}
