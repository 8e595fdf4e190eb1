package io.github.iree4j.generation.sampling;

import io.github.iree4j.generation.GenerationRequest;

/** Samplers of requests. */
final class Samplers {
    private Samplers() {}

    static Sampler of(GenerationRequest request) {
        return new Sampler(request.sampling(), request.stopTokens(), request.prompt());
    }
}
