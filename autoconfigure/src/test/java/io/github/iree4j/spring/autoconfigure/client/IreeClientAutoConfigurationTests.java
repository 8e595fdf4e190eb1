package io.github.iree4j.spring.autoconfigure.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verifyNoInteractions;
import static org.mockito.Mockito.when;

import io.github.iree4j.spring.InvocationOperations;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.client.IreeClient;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;
import reactor.core.publisher.Mono;

class IreeClientAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class, IreeClientAutoConfiguration.class))
            .withPropertyValues(
                    "spring.profiles.active=clients",
                    "iree.modules.digits.location=" + TestModules.fixture("3.11.0/cpu/add.vmfb"),
                    "iree.modules.digits.load=lazy");

    record Point(float x, float y) {}

    record Line(Point from, Point to) {}

    @Profile("clients") // other tests scan this package too
    @IreeClient("digits")
    public interface ScannedClient {
        float[] classify(float[] pixels);

        CompletableFuture<Point> point(Point from);
    }

    @Test
    void clientInterfacesInApplicationPackagesAreBeans() {
        runner.withUserConfiguration(Application.class)
                .run(context -> assertThat(context).hasSingleBean(ScannedClient.class));
    }

    @Test
    void doesNotScanWithoutApplicationPackages() {
        runner.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ScannedClient.class));
    }

    @Test
    void backsOffForABeanOfTheSameName() {
        ScannedClient own = new ScannedClient() {
            @Override
            public float[] classify(float[] pixels) {
                return pixels;
            }

            @Override
            public CompletableFuture<Point> point(Point from) {
                return CompletableFuture.completedFuture(from);
            }
        };
        runner.withUserConfiguration(Application.class)
                .withAllowBeanDefinitionOverriding(true)
                .withBean("ireeClientAutoConfigurationTests.ScannedClient", ScannedClient.class, () -> own)
                .run(context -> assertThat(context).getBean(ScannedClient.class).isSameAs(own));
    }

    @Test
    void clientsCallTheStubOfAnApplication() {
        InvocationOperations stub = mock(InvocationOperations.class);
        IreeException answer = IreeException.of(StatusCode.UNAVAILABLE, "says the stub");
        when(stub.request("digits.classify")).thenThrow(answer);
        runner.withUserConfiguration(Application.class)
                .withBean(InvocationOperations.class, () -> stub)
                .run(context -> {
                    assertThat(context).hasSingleBean(InvocationService.class);
                    assertThat(context.getBean(InvocationOperations.class)).isSameAs(stub);
                    assertThatThrownBy(
                                    () -> context.getBean(ScannedClient.class).classify(new float[1]))
                            .isSameAs(answer);
                });
    }

    /** No bean of the application would be right, so clients call the programs. */
    @Test
    void clientsCallTheProgramsIfAnApplicationHasSeveralStubs() {
        InvocationOperations one = mock(InvocationOperations.class);
        InvocationOperations two = mock(InvocationOperations.class);
        runner.withUserConfiguration(Application.class)
                .withBean("one", InvocationOperations.class, () -> one)
                .withBean("two", InvocationOperations.class, () -> two)
                .run(context -> {
                    assertThat(context).hasNotFailed().hasSingleBean(InvocationService.class);
                    assertThatThrownBy(
                                    () -> context.getBean(ScannedClient.class).classify(new float[1]))
                            .isInstanceOf(IreeException.class);
                    verifyNoInteractions(one, two);
                });
    }

    @Test
    void clientsCallThePrimaryStubOfSeveral() {
        InvocationOperations stub = mock(InvocationOperations.class);
        IreeException answer = IreeException.of(StatusCode.UNAVAILABLE, "says the stub");
        when(stub.request("digits.classify")).thenThrow(answer);
        runner.withUserConfiguration(Application.class)
                .withBean("one", InvocationOperations.class, () -> mock(InvocationOperations.class))
                .withBean("two", InvocationOperations.class, () -> stub, bean -> bean.setPrimary(true))
                .run(context -> assertThatThrownBy(
                                () -> context.getBean(ScannedClient.class).classify(new float[1]))
                        .isSameAs(answer));
    }

    /** The way to have further services, for example with other interceptors: nothing but a qualifier asks for these. */
    @Test
    void aServiceBesideTheDefaultCandidateChangesNothing() {
        runner.withUserConfiguration(Application.class, FurtherService.class).run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(ScannedClient.class);
            assertThat(context.getBeansOfType(InvocationService.class))
                    .containsOnlyKeys("ireeInvocationService", "further");
            assertThat(context.getBean(Holder.class).service()).isSameAs(context.getBean("ireeInvocationService"));
        });
    }

    record Holder(InvocationService service) {}

    @Configuration(proxyBeanMethods = false)
    static class FurtherService {
        @Bean(defaultCandidate = false)
        InvocationService further(Programs programs) {
            return new InvocationService(programs);
        }

        @Bean
        Holder holder(InvocationService service) {
            return new Holder(service);
        }
    }

    @Test
    void doesNotScanWhenDisabled() {
        runner.withUserConfiguration(Application.class)
                .withPropertyValues("iree.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(ScannedClient.class));
    }

    @Test
    void worksWithoutReactor() {
        runner.withUserConfiguration(Application.class)
                .withClassLoader(new FilteredClassLoader(Mono.class))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(ScannedClient.class));
    }

    @Test
    void registersHintsForProxiesAndRecords() {
        RuntimeHints hints = new RuntimeHints();
        IreeClientAotProcessor.register(hints, ScannedClient.class);
        assertThat(RuntimeHintsPredicates.proxies().forInterfaces(ScannedClient.class))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection()
                        .onType(Point.class)
                        .withMemberCategory(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS))
                .accepts(hints);
    }

    interface LineClient {
        float length(Line line);
    }

    @Test
    void registersHintsForRecordsInRecords() {
        RuntimeHints hints = new RuntimeHints();
        IreeClientAotProcessor.register(hints, LineClient.class);
        assertThat(RuntimeHintsPredicates.reflection()
                        .onType(Point.class)
                        .withMemberCategory(MemberCategory.INVOKE_DECLARED_METHODS))
                .accepts(hints);
    }

    @Test
    void clientsSurviveAheadOfTimeProcessing() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.getEnvironment().setActiveProfiles("clients");
            context.register(Application.class, IreeClientAutoConfiguration.class);
            InMemoryGeneratedFiles files = new InMemoryGeneratedFiles();
            DefaultGenerationContext generation = new DefaultGenerationContext(
                    new ClassNameGenerator(ClassName.get("io.github.iree4j.spring", "Aot")), files);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
            generation.writeGeneratedContent();
            assertThat(RuntimeHintsPredicates.proxies().forInterfaces(ScannedClient.class))
                    .accepts(generation.getRuntimeHints());
            assertThat(files.getGeneratedFiles(GeneratedFiles.Kind.SOURCE).keySet())
                    .anySatisfy(file -> assertThat(files.getGeneratedFileContent(GeneratedFiles.Kind.SOURCE, file))
                            .contains("new IreeClientFactoryBean")
                            .contains("ScannedClient.class"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @AutoConfigurationPackage
    static class Application {}
}
