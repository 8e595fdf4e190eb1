package io.github.iree4j.spring.test;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Resets the scripted programs after each test method, so that no method depends on the methods run before. */
final class ResetFakePrograms implements TestExecutionListener {

    /** For Spring. */
    ResetFakePrograms() {}

    @Override
    public void afterTestMethod(TestContext test) {
        ApplicationContext context = test.hasApplicationContext() ? test.getApplicationContext() : null;
        for (; context != null; context = context.getParent()) {
            if (context.getAutowireCapableBeanFactory() instanceof ConfigurableListableBeanFactory beans) {
                for (String name : beans.getBeanNamesForType(FakePrograms.class, false, false)) {
                    if (beans.getSingleton(name) instanceof FakePrograms used) { // else no test has used the bean
                        used.reset();
                    }
                }
            }
        }
    }
}
