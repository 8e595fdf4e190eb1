package io.github.iree4j.status;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FailureDetailTest {
    private record Missing(String name) implements FailureDetail {}

    private record Broken() implements FailureDetail {}

    @Test
    void aDetailIsFoundThroughWrappingExceptions() {
        Missing missing = new Missing("weights");
        IreeException root = IreeException.of(StatusCode.NOT_FOUND, "'weights' is missing", null, missing);
        IreeException outer = IreeException.of(
                StatusCode.INTERNAL,
                "could not load",
                new IllegalStateException(root.during("in function 'main'")),
                new Broken());
        assertThat(root.detail(Missing.class)).containsSame(missing);
        assertThat(outer.detail(Missing.class)).containsSame(missing);
        assertThat(outer.detail(FailureDetail.class)).as("the first").contains(new Broken());
        assertThat(root.detail(Broken.class)).isEmpty();
        assertThat(IreeException.of(StatusCode.INTERNAL, "plain").detail(FailureDetail.class))
                .isEmpty();
    }
}
