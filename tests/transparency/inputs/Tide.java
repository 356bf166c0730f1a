import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

public class Tide {
    public static void main(String[] args) throws Exception {
        Map<String, List<Integer>> index = new TreeMap<>();
        for (int i = 0; i < 200000; i++)
            index.computeIfAbsent("k" + i * 31L % 1009, k -> new ArrayList<>()).add(i);
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Long>> sums = new ArrayList<>();
        for (int n = 0; n < 8; n++) {
            final int seed = n;
            sums.add(pool.submit(() -> IntStream.range(0, 100000)
                .mapToObj(i -> Integer.toString(i * seed)).mapToLong(String::length).sum()));
        }
        for (Future<Long> sum : sums) System.out.println(sum.get());
        pool.shutdown();
        java.nio.ByteBuffer direct = java.nio.ByteBuffer.allocateDirect(1 << 20);
        System.out.println(direct.capacity() + " " + index.size() + " "
            + index.values().stream().mapToInt(List::size).max().getAsInt());
        Process child = new ProcessBuilder("sh", "-c", "echo child; exit 5").start();
        System.out.print(new String(child.getInputStream().readAllBytes()));
        System.exit(child.waitFor() + 1);
    }
}
