package pages;

import io.github.iree4j.spring.InvocationService;

class ByInputName {
    void call(InvocationService invocations, float[][] pixels) {
        // fence 1
    }
}
