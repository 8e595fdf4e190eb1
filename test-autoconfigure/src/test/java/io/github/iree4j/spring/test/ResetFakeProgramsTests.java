package io.github.iree4j.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Programs;
import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.platform.commons.support.AnnotationSupport;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestContextManager;

/** The end of a test method: scripts and recorded calls go, and nothing else happens. */
@Timeout(300)
class ResetFakeProgramsTests {

    @IreeTest(properties = "spring.main.lazy-initialization=true")
    @ContextConfiguration(classes = IreeTestTests.Application.class)
    static class Unscripted {
        void method() {}
    }

    @IreeTest
    @ContextConfiguration(classes = IreeTestTests.Application.class)
    @Import(Two.class)
    static class TwiceScripted {
        void method() {}
    }

    @TestConfiguration(proxyBeanMethods = false)
    static class Two {
        @Bean
        FakePrograms letters(IreeRuntime runtime, Programs programs, FakeHardware hardware) {
            return scripted("letters", runtime, programs, hardware);
        }

        @Bean
        FakePrograms digits(IreeRuntime runtime, Programs programs, FakeHardware hardware) {
            return scripted("digits", runtime, programs, hardware);
        }

        private static FakePrograms scripted(
                String name, IreeRuntime runtime, Programs programs, FakeHardware hardware) {
            return new FakePrograms(runtime, programs, hardware)
                    .program(name, program -> program.function("count", "() -> i32"));
        }
    }

    /** Runs an empty method of the class, in the context of the class; returns the context. */
    private static ConfigurableApplicationContext run(Class<?> type, Object test) throws Exception {
        Method method = type.getDeclaredMethod("method");
        TestContextManager manager = new TestContextManager(type);
        manager.prepareTestInstance(test);
        manager.beforeTestMethod(test, method);
        manager.afterTestMethod(test, method, null);
        return (ConfigurableApplicationContext) manager.getTestContext().getApplicationContext();
    }

    @Test
    void unusedScriptsAreNotCreated() throws Exception {
        assertThat(run(Unscripted.class, new Unscripted()).getBeanFactory().containsSingleton("ireeFakePrograms"))
                .isFalse();
    }

    @Test
    void allScriptsOfAContextEnd() throws Exception {
        assertThat(run(TwiceScripted.class, new TwiceScripted())
                        .getBean(Programs.class)
                        .all())
                .isEmpty();
    }

    @Test
    void testsWithScriptsAreNotRunInParallel() {
        assertThat(AnnotationSupport.findRepeatableAnnotations(Unscripted.class, ResourceLock.class))
                .isNotEmpty();
    }
}
