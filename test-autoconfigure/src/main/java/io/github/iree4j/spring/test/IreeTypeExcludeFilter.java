package io.github.iree4j.spring.test;

import org.springframework.boot.test.context.filter.annotation.StandardAnnotationCustomizableTypeExcludeFilter;

/** Of {@link IreeTest}: no component of the application is part of it. */
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
