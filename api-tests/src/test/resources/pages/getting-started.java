package demo;

import io.github.iree4j.spring.InvocationService;

class ByName {
    void call(InvocationService invocations, float[][] pixels) {
        // fence 4
    }
}
