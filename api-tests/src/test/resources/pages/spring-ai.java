package pages;

import io.github.iree4j.spring.ai.encoder.IreeReranker;
import java.util.List;
import org.springframework.ai.document.Document;
import org.springframework.ai.rag.Query;
import org.springframework.ai.vectorstore.SearchRequest;
import org.springframework.ai.vectorstore.VectorStore;

class SpringAi {
    void rerank(VectorStore store, IreeReranker reranker, String query) {
        // fence 2
    }
}
