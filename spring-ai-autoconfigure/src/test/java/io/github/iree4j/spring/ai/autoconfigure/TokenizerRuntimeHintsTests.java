package io.github.iree4j.spring.ai.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.engine.Engine;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import io.github.iree4j.spring.ai.encoder.SmallEncoder;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;

/** Without GraalVM: the resources and classes that DJL looks up on the JVM are compared with the hints. */
@Timeout(900)
class TokenizerRuntimeHintsTests {

    @TempDir
    private Path directory;

    private final RuntimeHints hints = new RuntimeHints();

    TokenizerRuntimeHintsTests() {
        new TokenizerRuntimeHints().registerHints(hints, getClass().getClassLoader());
    }

    /** Loads DJL in a new class loader and records the resources it looks up. */
    private static final class Watching extends URLClassLoader {
        private final Set<String> found = new ConcurrentSkipListSet<>();

        Watching(URL... jars) {
            super(jars, Watching.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> own = name.startsWith("ai.djl.") ? findLoadedClass(name) : null;
                return own != null
                        ? own
                        : name.startsWith("ai.djl.") ? findClass(name) : super.loadClass(name, resolve);
            }
        }

        @Override
        public URL getResource(String name) {
            URL url = super.getResource(name);
            note(name, url != null);
            return url;
        }

        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            Enumeration<URL> urls = super.getResources(name);
            note(name, urls.hasMoreElements());
            return urls;
        }

        @Override
        public InputStream getResourceAsStream(String name) {
            getResource(name);
            return super.getResourceAsStream(name);
        }

        private void note(String name, boolean exists) {
            // Providers of services and classes are seen when an image is built.
            if (exists && !name.startsWith("META-INF/services/") && !name.endsWith(".class")) {
                found.add(name);
            }
        }
    }

    @Test
    void resourcesOfTheLibraryAreRegistered() throws Exception {
        URL[] jars = {
            HuggingFaceTokenizer.class.getProtectionDomain().getCodeSource().getLocation(),
            Engine.class.getProtectionDomain().getCodeSource().getLocation()
        };
        Map<String, String> properties = Map.of(
                "DJL_CACHE_DIR", directory.toString(), // so that the library is copied, and is no other loader's
                "OPT_OUT_TRACKING", "true",
                "RUST_FLAVOR", "cpu");
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (Watching loader = new Watching(jars)) {
            properties.forEach(System::setProperty);
            thread.setContextClassLoader(loader);
            Class<?> type = loader.loadClass(HuggingFaceTokenizer.class.getName());
            try (InputStream json = Files.newInputStream(SmallEncoder.DIRECTORY.resolve("tokenizer.json"));
                    AutoCloseable tokenizer =
                            (AutoCloseable) type.getMethod("newInstance", InputStream.class, Map.class)
                                    .invoke(null, json, Map.of())) {
                Object encoding = type.getMethod("encode", String.class).invoke(tokenizer, "workers");
                assertThat(encoding.getClass().getClassLoader()).isSameAs(loader);
            }
            assertThat(loader.found)
                    .anySatisfy(name -> assertThat(name).endsWith(System.mapLibraryName("tokenizers")))
                    .allSatisfy(
                            name -> assertThat(RuntimeHintsPredicates.resource().forResource(name))
                                    .as(name)
                                    .accepts(hints));
        } finally {
            thread.setContextClassLoader(before);
            properties.keySet().forEach(System::clearProperty);
        }
    }

    @Test
    void classesCreatedByTheLibraryAreRegistered() throws Exception {
        String library;
        try (InputStream in =
                HuggingFaceTokenizer.class.getResourceAsStream("/native/lib/linux-x86_64/cpu/libtokenizers.so")) {
            assertThat(in).isNotNull();
            library = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
        for (String name : List.of(
                "ai.djl.huggingface.tokenizers.jni.CharSpan",
                "ai.djl.engine.EngineException",
                "java.lang.RuntimeException",
                "java.lang.UnsupportedOperationException")) {
            assertThat(library).contains(name.replace('.', '/'));
            Class<?> type = Class.forName(name, false, getClass().getClassLoader());
            assertThat(hints.jni().getTypeHint(type)).as(name).isNotNull();
            assertThat(hints.jni().getTypeHint(type).getMemberCategories())
                    .contains(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS);
        }
        assertThat(hints.jni().getTypeHint(String.class)).isNotNull();
    }

    @Test
    void aheadOfTimeProcessingFindsHintsAndProperties() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            TestPropertyValues.of(SmallEncoder.properties())
                    .and(SmallEncoder.rerankerProperties())
                    .and("iree.ai.classifier.module=encoder")
                    .applyTo(context);
            context.register(
                    IreeAutoConfiguration.class,
                    IreeEmbeddingAutoConfiguration.class,
                    IreeRerankerAutoConfiguration.class,
                    IreeClassifierAutoConfiguration.class);
            DefaultGenerationContext generation = new DefaultGenerationContext(
                    new ClassNameGenerator(ClassName.get("io.github.iree4j.spring", "Aot")),
                    new InMemoryGeneratedFiles());
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
            generation.writeGeneratedContent();
            RuntimeHints all = generation.getRuntimeHints();
            assertThat(RuntimeHintsPredicates.resource().forResource("native/lib/linux-x86_64/cpu/libtokenizers.so"))
                    .accepts(all);
            assertThat(RuntimeHintsPredicates.resource().forResource("META-INF/native/linux-x86_64/libiree4j_shim.so"))
                    .accepts(all);
            for (Class<?> bound : List.of(
                    IreeEmbeddingProperties.class,
                    IreeEmbeddingProperties.Prefix.class,
                    IreeRerankerProperties.class,
                    IreeClassifierProperties.class)) {
                assertThat(RuntimeHintsPredicates.reflection().onType(bound))
                        .as(bound.getName())
                        .accepts(all);
            }
        }
    }
}
