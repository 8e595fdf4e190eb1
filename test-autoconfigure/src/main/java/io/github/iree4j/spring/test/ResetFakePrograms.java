package io.github.iree4j.spring.test;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Resets the scripted programs after each test method, so that no method depends on the methods run before. */
final class ResetFakePrograms implements TestExecutionListener {

    /** For Spring. */
    ResetFakePrograms() {}

    @Override
    public void afterTestMethod(TestContext test) {
        if (test.hasApplicationContext()) {
            test.getApplicationContext().getBeanProvider(FakePrograms.class).ifAvailable(FakePrograms::reset);
        }
    }
}
