package io.github.iree4j.spring.test;

import org.springframework.boot.test.context.filter.annotation.StandardAnnotationCustomizableTypeExcludeFilter;

/** Type filter of {@link IreeTest}, including no component of the application. */
final class IreeTypeExcludeFilter extends StandardAnnotationCustomizableTypeExcludeFilter<IreeTest> {
    /**
     * For Spring.
     *
     * @param testClass the test
     */
    IreeTypeExcludeFilter(Class<?> testClass) {
        super(testClass);
    }
}
