// cache_test.cc - the disk cache: hits, damage, concurrent writers, the size limit and the off switch.
#include <gtest/gtest.h>
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

extern "C" {
#include "runtime/cache.h"
}

namespace
{

class Cache : public ::testing::Test
{
  protected:
    pxb_context *ctx = nullptr;
    std::string home;
    void SetUp() override
    {
        char name[] = "/tmp/ptxbridge_cache_XXXXXX";
        home = mkdtemp(name);
        setenv("XDG_CACHE_HOME", home.c_str(), 1);
        unsetenv("PTXBRIDGE_CACHE");
        unsetenv("PTXBRIDGE_CACHE_MB");
        ASSERT_EQ(pxb_context_create(&ctx), PXB_OK);
    }
    void TearDown() override
    {
        pxb_context_destroy(ctx);
        ASSERT_EQ(system(("rm -rf " + home).c_str()), 0);
    }
    void reopen()
    {
        pxb_context_destroy(ctx);
        ASSERT_EQ(pxb_context_create(&ctx), PXB_OK);
    }
    struct Key {
        uint8_t bytes[RT_KEY_BYTES];
    };
    static Key key(int n)
    {
        Key k;
        for (int i = 0; i < RT_KEY_BYTES; i++)
            k.bytes[i] = (uint8_t)(n >> 8 * (i % 4));
        return k;
    }
    void put(int n, const std::string &data)
    {
        rt_cache_put(ctx, key(n).bytes, ("label " + std::to_string(n)).c_str(), data.data(), data.size());
    }
    bool get(int n, std::string *out = nullptr)
    {
        void *data;
        size_t bytes;
        bool hit = rt_cache_get(ctx, key(n).bytes, &data, &bytes);
        if (hit && out)
            out->assign((char *)data, bytes);
        free(data);
        return hit;
    }
    std::vector<std::string> files()
    {
        std::vector<std::string> list;
        std::string folder = home + "/ptxbridge";
        if (DIR *dir = opendir(folder.c_str())) {
            while (dirent *d = readdir(dir))
                if (d->d_name[0] != '.')
                    list.push_back(folder + "/" + d->d_name);
            closedir(dir);
        }
        return list;
    }
};

TEST_F(Cache, KeepsAndFinds)
{
    std::string got;
    EXPECT_FALSE(get(1));
    put(1, "one");
    put(2, std::string(100000, 'x') + std::string("\0y", 2));
    put(3, "");
    ASSERT_TRUE(get(1, &got));
    EXPECT_EQ(got, "one");
    ASSERT_TRUE(get(2, &got));
    EXPECT_EQ(got, std::string(100000, 'x') + std::string("\0y", 2));
    ASSERT_TRUE(get(3, &got));
    EXPECT_EQ(got, "");
    put(1, "uno");
    ASSERT_TRUE(get(1, &got));
    EXPECT_EQ(got, "uno");
    reopen();
    EXPECT_TRUE(get(1));
    EXPECT_FALSE(get(4));
    EXPECT_EQ(files().size(), 3u); // no temporary is left
}

// Every single byte that changes, and every cut, is a miss; the file is gone then, and can be made again.
TEST_F(Cache, DamageIsAMiss)
{
    put(1, "the data of the entry");
    ASSERT_EQ(files().size(), 1u);
    std::string path = files()[0], got;
    std::ifstream in(path, std::ios::binary);
    std::string good((std::istreambuf_iterator<char>(in)), {});
    for (size_t i = 0; i <= good.size(); i++) {
        for (bool cut : {false, true}) {
            std::string bad = good;
            if (cut)
                bad.resize(i);
            else if (i < good.size())
                bad[i] = (char)(bad[i] ^ 1);
            else
                bad += 'x';
            std::ofstream(path, std::ios::binary) << bad;
            if (bad == good) {
                EXPECT_TRUE(get(1));
                continue;
            }
            EXPECT_FALSE(get(1)) << i << cut;
            EXPECT_TRUE(files().empty());
            put(1, "the data of the entry");
            ASSERT_TRUE(get(1, &got));
            EXPECT_EQ(got, "the data of the entry");
        }
    }
    // An entry under another key's name is damaged as well.
    put(2, "two");
    for (const std::string &f : files())
        if (f != path) {
            ASSERT_EQ(rename(f.c_str(), path.c_str()), 0);
        }
    EXPECT_FALSE(get(1));
}

TEST_F(Cache, TwoWritersAndReaders)
{
    std::vector<pid_t> children;
    for (int writer = 0; writer < 2; writer++) {
        pid_t child = fork();
        if (child == 0) {
            pxb_context *own;
            if (pxb_context_create(&own))
                _exit(2);
            for (int round = 0; round < 200; round++) {
                for (int n = 0; n < 4; n++) {
                    std::string data(1000 + 1000 * (size_t)n, (char)('a' + n)); // a key always has the same data
                    rt_cache_put(own, key(n).bytes, "x", data.data(), data.size());
                    void *got;
                    size_t bytes;
                    if (rt_cache_get(own, key(n).bytes, &got, &bytes) &&
                        (bytes != data.size() || memcmp(got, data.data(), bytes) != 0))
                        _exit(1);
                    free(got);
                }
                if (round % 50 == 49)
                    pxb_cache_clear(own, NULL);
            }
            _exit(0);
        }
        children.push_back(child);
    }
    for (pid_t child : children) {
        int status;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    uint64_t damaged = 1;
    EXPECT_EQ(pxb_cache_verify(ctx, NULL, NULL, &damaged), PXB_OK);
    EXPECT_EQ(damaged, 0u);
    for (const std::string &f : files())
        EXPECT_EQ(f.find("tmp."), std::string::npos);
}

TEST_F(Cache, LeastRecentlyUsedGoFirst)
{
    setenv("PTXBRIDGE_CACHE_MB", "1", 1);
    std::string quarter(250 << 10, 'q');
    for (int n = 0; n < 4; n++) {
        put(n, quarter);
        usleep(20000); // file times have a resolution of up to a clock tick
    }
    EXPECT_TRUE(get(0)); // used now
    usleep(20000);
    put(4, quarter);
    EXPECT_TRUE(get(0));
    EXPECT_FALSE(get(1));
    EXPECT_TRUE(get(4));
    uint64_t bytes = 0;
    EXPECT_EQ(pxb_cache_list(ctx, NULL, NULL, NULL, &bytes), PXB_OK);
    EXPECT_LE(bytes, 1u << 20);
    put(5, std::string(2 << 20, 'x')); // larger than all: not kept, and nothing lost for it
    EXPECT_FALSE(get(5));
    EXPECT_TRUE(get(4));
}

TEST_F(Cache, OffSwitchAndNoFolder)
{
    setenv("PTXBRIDGE_CACHE", "0", 1);
    reopen();
    EXPECT_EQ(pxb_cache_path(ctx), nullptr);
    put(1, "one");
    EXPECT_FALSE(get(1));
    EXPECT_TRUE(files().empty());
    unsetenv("PTXBRIDGE_CACHE");
    setenv("XDG_CACHE_HOME", "/proc/no/such", 1);
    reopen();
    put(1, "one"); // a folder that cannot be made is no error
    EXPECT_FALSE(get(1));
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", home.c_str(), 1);
    reopen();
    EXPECT_EQ(std::string(pxb_cache_path(ctx)), home + "/.cache/ptxbridge");
    put(1, "one");
    EXPECT_TRUE(get(1));
}

TEST_F(Cache, ListVerifyClear)
{
    put(1, "one");
    usleep(20000);
    put(2, "two");
    std::vector<std::string> labels;
    auto collect = [](void *user, const pxb_cache_entry *e) {
        ((std::vector<std::string> *)user)->push_back(std::string(e->label) + (e->damaged ? " damaged" : ""));
        return true;
    };
    uint64_t entries = 0, damaged = 0, removed = 0;
    EXPECT_EQ(pxb_cache_list(ctx, collect, &labels, &entries, NULL), PXB_OK);
    EXPECT_EQ(entries, 2u);
    EXPECT_EQ(labels, (std::vector<std::string>{"label 2", "label 1"}));
    std::ofstream(files()[0], std::ios::binary) << "rubbish";
    std::ofstream(home + "/ptxbridge/notes.txt") << "not ours";
    EXPECT_EQ(pxb_cache_verify(ctx, NULL, NULL, &damaged), PXB_NO);
    EXPECT_EQ(damaged, 1u);
    EXPECT_EQ(pxb_cache_clear(ctx, &removed), PXB_OK);
    EXPECT_EQ(removed, 1u);
    EXPECT_EQ(files(), std::vector<std::string>{home + "/ptxbridge/notes.txt"});
}

} // namespace
